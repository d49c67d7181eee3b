#include <algorithm>

#include "tests/oracle/generator.h"

namespace het::oracle {
namespace {

Tensor scalar(double value) {
  return Tensor::scalar(static_cast<float>(value));
}

/// scales or sizes, for all axes or for some.
void resize(Draw& d) {
  const ElementType type = d.type();
  const bool picture = d.below(4) != 3;
  Shape shape = picture ? Shape{d.dim(), d.dim(), d.between(1, 9), d.between(1, 9)} : d.shape(1);
  const auto rank = static_cast<int64_t>(shape.size());
  // Integers round after sums of products whose order is a device's own.
  const std::string mode = is_float(type) ? d.word("nearest linear cubic") : "nearest";
  Ints axes;
  if (d.below(4) == 3) axes = d.axes(rank, 1);
  const size_t count = axes.empty() ? shape.size() : axes.size();
  std::vector<float> scales;
  Ints sizes;
  for (size_t i = 0; i < count; ++i) {
    const bool still = axes.empty() && picture && i < 2 && d.below(4) != 3;
    const auto at =
        static_cast<size_t>(axes.empty() ? static_cast<int64_t>(i) : (axes[i] + rank) % rank);
    scales.push_back(still ? 1.0f : d.pick<float>({2, 1, 0.5, 1.5, 3, 0.6f, 0.75}));
    sizes.push_back(still || shape[at] == 0 ? shape[at] : d.between(1, 12));
  }
  const auto crop = d.below(8) == 7 && mode != "nearest";
  d.input(type, shape);
  if (crop) {
    std::vector<float> roi(2 * count, 0.0f);
    for (size_t i = 0; i < count; ++i) {
      roi[i] = d.pick<float>({0, 0.25, -0.25});
      roi[count + i] = d.pick<float>({1, 0.75, 1.25});
    }
    d.constant(Tensor::from<float>({static_cast<int64_t>(2 * count)}, std::span<const float>(roi)));
    d.attribute("coordinate_transformation_mode", std::string("tf_crop_and_resize"));
    d.attributes("extrapolation_value:f=|2");
  } else {
    d.omit();
  }
  if (d.flag()) {
    const Tensor list =
        Tensor::from<float>({static_cast<int64_t>(count)}, std::span<const float>(scales));
    d.call().inputs.push_back({list, d.below(4) != 3});
  } else {
    d.omit();
    d.ints(sizes);
    if (!crop && std::count(shape.begin(), shape.end(), 0) == 0) {
      d.attributes("keep_aspect_ratio_policy:s=||not_larger|not_smaller");
    }
  }
  if (!axes.empty()) d.attribute("axes", axes);
  d.attribute("mode", mode);
  if (!crop) {
    d.attributes(
        "coordinate_transformation_mode:s=|asymmetric|align_corners|pytorch_half_pixel|"
        "half_pixel_symmetric|tf_half_pixel_for_nn");
  }
  if (mode == "nearest") {
    d.attributes("nearest_mode:s=|floor|round_prefer_ceil|ceil");
  } else {
    d.attributes("antialias:i=||1");
  }
  if (mode == "cubic") d.attributes("cubic_coeff_a:f=|-0.5 exclude_outside:i=|1");
}

void grid_sample(Draw& d) {
  const ElementType type = d.type();
  const int64_t rank = d.pick<int64_t>({2, 2, 2, 1, 3});
  Shape x{d.dim(), d.dim()};
  Shape grid{x[0]};
  for (int64_t i = 0; i < rank; ++i) {
    x.push_back(d.between(1, 7));
    grid.push_back(d.between(1, 7));
  }
  grid.push_back(rank);
  d.input(type, x);
  d.input(type, grid, -1.5, 1.5);
  d.attributes("mode:s=|nearest|cubic padding_mode:s=|border|reflection align_corners:i=|1");
}

void affine_grid(Draw& d) {
  const int64_t rank = d.between(2, 3);
  const int64_t n = d.size();
  d.input(d.type(), {n, rank, rank + 1});
  Ints size{n, d.size()};
  for (int64_t i = 0; i < rank; ++i) size.push_back(d.between(1, 6));
  d.ints(size);
  d.attributes("align_corners:i=|1");
}

void crop_and_resize(Draw& d) {
  const Shape x{d.between(1, 2), d.size(), d.between(1, 9), d.between(1, 9)};
  const int64_t count = d.dim();
  d.input(ElementType::Float32, x);
  d.input(ElementType::Float32, {count, 4}, -0.25, 1.25);
  d.input(ElementType::Int32, {count}, 0, static_cast<double>(x[0] - 1));
  d.ints({d.between(1, 5), d.between(1, 5)});
  d.attributes("mode:s=|nearest extrapolation_value:f=|2");
}

void dft(Draw& d) {
  const bool inverse = d.flag();
  const bool onesided = d.flag();
  Shape shape = d.shape(1, 3);
  const auto rank = static_cast<int64_t>(shape.size()) + 1;
  int64_t axis = d.below(rank - 1);
  int64_t& length = shape[static_cast<size_t>(axis)];
  length = d.between(onesided && inverse ? 2 : 1, 20);
  shape.push_back(onesided ? (inverse ? 2 : 1) : d.pick<int64_t>({2, 1}));
  d.input(d.type(), shape);
  const bool resized = d.flag();
  if (resized) {
    d.input(Tensor::scalar<int64_t>(d.between(1, 24)));
  } else {
    d.omit();
  }
  d.input(Tensor::scalar<int64_t>(d.flag() ? axis : axis - rank));
  if (inverse) d.attribute("inverse", int64_t{1});
  if (onesided) d.attribute("onesided", int64_t{1});
}

void stft(Draw& d) {
  const ElementType type = d.type();
  const bool complex = d.below(4) == 3;
  const int64_t frame = d.between(1, 16);
  const int64_t samples = frame + d.between(0, 30);
  d.input(type, complex ? Shape{d.dim(), samples, 2} : Shape{d.dim(), samples, 1});
  d.input(Tensor::scalar<int64_t>(d.between(1, 8)));
  const int64_t how = d.below(3);  // window, length, both
  if (how == 1) {
    d.omit();
  } else {
    d.weights(type, {frame}, 0, 1);
  }
  if (how > 0) d.input(Tensor::scalar<int64_t>(frame));
  if (complex) d.attribute("onesided", int64_t{0});
  if (!complex) d.attributes("onesided:i=|0|1");
}

void signal_window(Draw& d) {
  d.call().inputs.push_back({Tensor::scalar<int64_t>(d.between(0, 20)), false});
  d.attributes("periodic:i=|0 output_datatype:i=|1|11|10");
}

void mel_weight_matrix(Draw& d) {
  const int64_t length = d.between(8, 64);
  d.call().inputs.push_back({Tensor::scalar<int64_t>(d.between(1, 8)), false});
  d.input(Tensor::scalar<int64_t>(length));
  d.input(Tensor::scalar<int64_t>(8192));
  d.input(scalar(d.pick<double>({0, 125})));
  d.input(scalar(d.pick<double>({4000, 3000})));
  d.attributes("output_datatype:i=|1|11");
}

constexpr Generator kSamplingTable[] = {
    {"", "Resize", resize, "f32 f16 f64 u8 i32 bf16"},
    {"", "GridSample", grid_sample, "f32 f64 f16"},
    {"", "AffineGrid", affine_grid, "f32 f64 f16"},
    {"com.microsoft", "CropAndResize", crop_and_resize},
    {"", "DFT", dft, kFloats},
    {"", "STFT", stft, "f32 f64 f16"},
    {"", "HannWindow", signal_window},
    {"", "HammingWindow", signal_window},
    {"", "BlackmanWindow", signal_window},
    {"", "MelWeightMatrix", mel_weight_matrix},
};

}  // namespace

std::span<const Generator> sampling_generators() {
  return kSamplingTable;
}

}  // namespace het::oracle
