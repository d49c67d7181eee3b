#include "inference/ops/windows/roi_align.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"
#include "inference/ops/windows/larger.h"

namespace het {
namespace {

/// Samples per bin and dimension at most: a region from a broken model may have any size.
constexpr int64_t kMaxSamples = 4096;

/// The attributes with ONNX' names; of the output shape, the last two dimensions.
Status read_onnx_form(const Attributes& attributes, RoiAlignAttributes& align) {
  HET_TRY(check_attributes(attributes, {{"coordinate_transformation_mode", AttributeType::String},
                                        {"mode", AttributeType::String},
                                        {"output_height", AttributeType::Int},
                                        {"output_width", AttributeType::Int},
                                        {"sampling_ratio", AttributeType::Int},
                                        {"spatial_scale", AttributeType::Float}}));
  const std::string coordinates =
      attributes.get_string("coordinate_transformation_mode", "half_pixel");
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel") {
    return error(StatusCode::InvalidArgument,
                 "coordinate_transformation_mode is '{}', but must be half_pixel or "
                 "output_half_pixel",
                 coordinates);
  }
  align.half_pixel = coordinates == "half_pixel";
  align.output_shape = {attributes.get_int("output_height", 1),
                        attributes.get_int("output_width", 1)};
  return {};
}

/// The attributes with OpenVINO's names; half_pixel_for_nn is what ONNX calls half_pixel.
Status read_openvino_form(const Attributes& attributes, RoiAlignAttributes& align) {
  HET_TRY(check_attributes(attributes, {{"aligned_mode", AttributeType::String},
                                        {"mode", AttributeType::String, true},
                                        {"pooled_h", AttributeType::Int, true},
                                        {"pooled_w", AttributeType::Int, true},
                                        {"sampling_ratio", AttributeType::Int, true},
                                        {"spatial_scale", AttributeType::Float, true}}));
  const std::string aligned = attributes.get_string("aligned_mode", "asymmetric");
  if (aligned != "asymmetric" && aligned != "half_pixel" && aligned != "half_pixel_for_nn") {
    return error(StatusCode::InvalidArgument,
                 "aligned_mode is '{}', but must be asymmetric, half_pixel or half_pixel_for_nn",
                 aligned);
  }
  align.half_pixel = aligned != "asymmetric";
  align.region_offset = aligned == "half_pixel" ? 0.5 : 0;
  align.max_of_samples = true;
  align.output_shape = {attributes.get_int("pooled_h", 0), attributes.get_int("pooled_w", 0)};
  return {};
}

}  // namespace

Result<RoiAlignAttributes> roi_align_attributes(const Node& node, const Shape& x, const Shape& rois,
                                                const Shape& batch_indices) {
  const Attributes& attributes = node.attributes();
  RoiAlignAttributes align;
  HET_TRY(node.domain() == "het" ? read_openvino_form(attributes, align)
                                 : read_onnx_form(attributes, align));
  const std::string mode = attributes.get_string("mode", "avg");
  if (mode != "avg" && mode != "max") {
    return error(StatusCode::InvalidArgument, "mode is '{}', but must be avg or max", mode);
  }
  align.max = mode == "max";
  align.sampling_ratio = attributes.get_int("sampling_ratio", 0);
  if (align.sampling_ratio < 0 || align.sampling_ratio > kMaxSamples) {
    return error(StatusCode::InvalidArgument, "sampling_ratio is {}, but must be from 0 to {}",
                 align.sampling_ratio, kMaxSamples);
  }
  align.spatial_scale = static_cast<double>(attributes.get_float("spatial_scale", 1.0f));
  const int64_t height = align.output_shape[0];
  const int64_t width = align.output_shape[1];
  if (height < 1 || width < 1) {
    return error(StatusCode::InvalidArgument,
                 "output_height is {} and output_width {}, but both must be 1 or more", height,
                 width);
  }
  if (x.size() != 4 || rois.size() != 2 || rois[1] != 4 || batch_indices != Shape{rois[0]}) {
    return error(StatusCode::ShapeMismatch,
                 "X has shape {}, rois {} and batch_indices {}, but they must have [n, c, h, w], "
                 "[regions, 4] and [regions]",
                 to_string(x), to_string(rois), to_string(batch_indices));
  }
  align.output_shape = {rois[0], x[1], height, width};
  HET_ASSIGN(const int64_t count, checked_element_count(align.output_shape));
  if (count > 0 && (x[0] == 0 || x[2] == 0 || x[3] == 0)) {
    return error(StatusCode::ShapeMismatch, "X has shape {}: there is nothing to sample",
                 to_string(x));
  }
  return align;
}

namespace {

Status infer_roi_align(InferContext& context) {
  HET_TRY(check_input(context, 0, "X", kFloatTypes));
  HET_TRY(check_input(context, 1, "rois", kFloatTypes));
  HET_TRY(check_input(context, 2, "batch_indices", kIndexTypes));
  HET_TRY(check_same_type(context, 0, 1));
  HET_ASSIGN(RoiAlignAttributes align, roi_align_attributes(context.node(), context.shape(0),
                                                            context.shape(1), context.shape(2)));
  context.set_output(0, context.type(0), std::move(align.output_shape));
  return {};
}

/// One dimension of a region: its bins and the samples in each.
struct RoiAxis {
  double start = 0;
  double bin_size = 0;
  int64_t samples = 0;

  double position(int64_t bin, int64_t sample) const {
    return start + (static_cast<double>(bin) +
                    (static_cast<double>(sample) + 0.5) / static_cast<double>(samples)) *
                       bin_size;
  }
};

/// In Real, so that the number of samples of float regions rounds as everywhere else.
template <class Real>
Result<RoiAxis> roi_axis(const RoiAlignAttributes& align, Real from, Real to, int64_t bins) {
  const auto scale = static_cast<Real>(align.spatial_scale);
  const Real offset = align.half_pixel ? Real(0.5) : Real(0);
  const auto shift = static_cast<Real>(align.region_offset);
  const Real start = (from + shift) * scale - offset;
  Real size = (to + shift) * scale - offset - start;
  if (!align.half_pixel) size = std::max(size, Real(1));
  const Real bin_size = size / static_cast<Real>(bins);
  const double samples = align.sampling_ratio > 0 ? static_cast<double>(align.sampling_ratio)
                                                  : std::ceil(static_cast<double>(bin_size));
  if (!(samples <= static_cast<double>(kMaxSamples))) {
    return error(StatusCode::InvalidArgument,
                 "a region from {} to {} needs {} samples per bin, at most {} are supported", from,
                 to, samples, kMaxSamples);
  }
  return RoiAxis{static_cast<double>(start), static_cast<double>(bin_size),
                 static_cast<int64_t>(std::max(samples, 0.0))};
}

/// The two pixels of one dimension around a sample.
struct PixelPair {
  int64_t low = 0;
  int64_t high = 0;
  double low_weight = 0;
  double high_weight = 0;
  bool outside = false;  ///< more than one pixel away from the picture: the sample is 0
};

PixelPair pixel_pair(double position, int64_t size) {
  PixelPair pair;
  if (!(position >= -1.0 && position <= static_cast<double>(size))) {
    pair.outside = true;
    return pair;
  }
  position = std::max(position, 0.0);
  pair.low = static_cast<int64_t>(position);
  if (pair.low >= size - 1) {
    pair.low = pair.high = size - 1;
    position = static_cast<double>(pair.low);
  } else {
    pair.high = pair.low + 1;
  }
  pair.high_weight = position - static_cast<double>(pair.low);
  pair.low_weight = 1 - pair.high_weight;
  return pair;
}

/// The four weighted pixels of a sample.
template <class T>
std::array<double, 4> weighted_pixels(const T* plane, int64_t width, const PixelPair& y,
                                      const PixelPair& x) {
  if (y.outside || x.outside) return {};
  const auto pixel = [&](int64_t row, int64_t column) {
    return static_cast<double>(plane[row * width + column]);
  };
  return {y.low_weight * x.low_weight * pixel(y.low, x.low),
          y.low_weight * x.high_weight * pixel(y.low, x.high),
          y.high_weight * x.low_weight * pixel(y.high, x.low),
          y.high_weight * x.high_weight * pixel(y.high, x.high)};
}

/// One bin of one channel. RoiAlign's maximum is taken over the weighted pixels of all samples, not
/// over their sums: ONNX' reference and ONNX Runtime define it so. ROIAlign's starts at 0, as
/// OpenVINO's does.
template <class T>
double pool_bin(const RoiAlignAttributes& align, const T* plane, int64_t width,
                const std::vector<PixelPair>& ys, const std::vector<PixelPair>& xs) {
  double sum = 0;
  double largest = 0;
  bool first = !align.max_of_samples;
  for (const PixelPair& y : ys) {
    for (const PixelPair& x : xs) {
      const std::array<double, 4> pixels = weighted_pixels(plane, width, y, x);
      const double sample = pixels[0] + pixels[1] + pixels[2] + pixels[3];
      sum += sample;
      const auto candidates = align.max_of_samples ? std::span<const double>(&sample, 1)
                                                   : std::span<const double>(pixels);
      for (const double value : candidates) {
        if (first || is_larger(value, largest)) largest = value;
        first = false;
      }
    }
  }
  const auto count = static_cast<double>(std::max<size_t>(1, ys.size() * xs.size()));
  return align.max ? largest : sum / count;
}

std::vector<PixelPair> bin_pixels(const RoiAxis& axis, int64_t bin, int64_t size) {
  std::vector<PixelPair> pairs;
  for (int64_t i = 0; i < axis.samples; ++i) {
    pairs.push_back(pixel_pair(axis.position(bin, i), size));
  }
  return pairs;
}

/// Samples in double. Order: region, bin, channel, sample.
Status evaluate_roi_align(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  HET_ASSIGN(const RoiAlignAttributes align,
             roi_align_attributes(context.node(), x.shape(), context.input(1).shape(),
                                  context.input(2).shape()));
  if (element_count(align.output_shape) == 0) return {};
  HET_ASSIGN(const std::vector<int64_t> batch_indices, to_int64_vector(context.input(2)));
  const int64_t channels = x.shape()[1];
  const int64_t height = x.shape()[2];
  const int64_t width = x.shape()[3];
  const int64_t bins_y = align.output_shape[2];
  const int64_t bins_x = align.output_shape[3];
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    using Real = ArithmeticType<T>;
    for (int64_t r = 0; r < align.output_shape[0]; ++r) {
      const int64_t batch = batch_indices[static_cast<size_t>(r)];
      if (batch < 0 || batch >= x.shape()[0]) {
        return error(StatusCode::InvalidArgument,
                     "batch_indices contains {} for region {}, but X has shape {}", batch, r,
                     to_string(x.shape()));
      }
      const T* roi = context.input(1).data<T>() + r * 4;
      HET_ASSIGN(const RoiAxis axis_x, roi_axis<Real>(align, roi[0], roi[2], bins_x));
      HET_ASSIGN(const RoiAxis axis_y, roi_axis<Real>(align, roi[1], roi[3], bins_y));
      const T* src = x.data<T>() + batch * channels * height * width;
      T* dst = context.output(0).data<T>() + r * channels * bins_y * bins_x;
      for (int64_t by = 0; by < bins_y; ++by) {
        const std::vector<PixelPair> ys = bin_pixels(axis_y, by, height);
        for (int64_t bx = 0; bx < bins_x; ++bx) {
          const std::vector<PixelPair> xs = bin_pixels(axis_x, bx, width);
          for (int64_t c = 0; c < channels; ++c) {
            dst[(c * bins_y + by) * bins_x + bx] =
                numeric_cast<T>(pool_bin(align, src + c * height * width, width, ys, xs));
          }
        }
      }
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_roi_align(OpRegistry& registry) {
  registry.add({"RoiAlign", "", 22, 3, 3, infer_roi_align, evaluate_roi_align});
  // docs.openvino.ai, operation specifications ROIAlign-3 and -9.
  registry.add({"ROIAlign", "het", 9, 3, 3, infer_roi_align, evaluate_roi_align});
}

}  // namespace het
