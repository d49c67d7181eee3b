#include <algorithm>

#include "tests/oracle/generator.h"

namespace het::oracle {
namespace {

/// Windows over an input that has room for at least one.
struct WindowDraw {
  Ints kernel;
  Ints strides;
  Ints dilations;
  Ints begins;
  Ints ends;
  Ints in;

  int64_t extent(size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
  /// Positions of the window with explicit pads, rounded down.
  int64_t count(size_t i) const {
    return (in[i] + begins[i] + ends[i] - extent(i)) / strides[i] + 1;
  }
  Ints pads() const {
    Ints list = begins;
    list.insert(list.end(), ends.begin(), ends.end());
    return list;
  }
};

int64_t spatial_rank(Draw& d) {
  return d.pick<int64_t>({2, 1, 2, 2, 3, 2});
}

WindowDraw window(Draw& d, int64_t rank, bool dilated) {
  WindowDraw w;
  // The usual form is square, and most kernels of devices are for it.
  const bool square = d.flag();
  const int64_t kernel = d.pick<int64_t>({1, 3, 2, 3, 5});
  const int64_t stride = d.pick<int64_t>({1, 1, 2});
  for (int64_t i = 0; i < rank; ++i) {
    w.kernel.push_back(square ? kernel : d.between(1, 4));
    w.strides.push_back(square ? stride : d.between(1, 3));
    w.dilations.push_back(dilated && d.below(4) == 3 ? 2 : 1);
    w.begins.push_back(square ? kernel / 2 : d.below(w.kernel.back()));
    w.ends.push_back(square ? kernel / 2 : d.below(w.kernel.back()));
    const auto at = static_cast<size_t>(i);
    const int64_t least = std::max<int64_t>(1, w.extent(at) - w.begins[at] - w.ends[at]);
    w.in.push_back(least + d.between(0, rank == 3 ? 3 : 9));
  }
  return w;
}

/// Attributes of a window; with auto_pad the pads are not given.
void window_attributes(Draw& d, const WindowDraw& w, bool auto_padded) {
  const auto unlike_one = [](int64_t value) { return value != 1; };
  if (std::any_of(w.strides.begin(), w.strides.end(), unlike_one)) {
    d.attribute("strides", w.strides);
  }
  if (std::any_of(w.dilations.begin(), w.dilations.end(), unlike_one)) {
    d.attribute("dilations", w.dilations);
  }
  if (auto_padded) {
    bool fits = true;
    for (size_t i = 0; i < w.in.size(); ++i) fits = fits && w.in[i] >= w.extent(i);
    d.attribute("auto_pad",
                fits ? d.word("SAME_UPPER SAME_LOWER VALID") : d.word("SAME_UPPER SAME_LOWER"));
  } else {
    d.attribute("pads", w.pads());
  }
}

Shape joined(Shape front, const Ints& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

/// Groups, channels of a group, outputs of a group: often a multiple of what devices block by.
struct Channels {
  explicit Channels(Draw& d)
      : depthwise(d.below(4) == 3),
        groups(depthwise ? d.size() : d.pick<int64_t>({1, 1, 1, 2, 3})),
        in(depthwise ? 1 : d.size()),
        out(depthwise ? d.pick<int64_t>({1, 1, 2}) : d.size()) {}
  bool depthwise;
  int64_t groups;
  int64_t in;
  int64_t out;
};

void conv(Draw& d) {
  const ElementType type = d.type();
  const Channels c(d);
  const WindowDraw w = window(d, spatial_rank(d), true);
  d.input(type, joined({d.dim(), c.groups * c.in}, w.in));
  d.ordinary_weights(type, joined({c.groups * c.out, c.in}, w.kernel), -1, 1);
  if (d.flag()) d.weights(type, {c.groups * c.out});
  if (c.groups != 1) d.attribute("group", c.groups);
  if (d.flag()) d.attribute("kernel_shape", w.kernel);
  window_attributes(d, w, d.below(4) == 3);
}

void conv_transpose(Draw& d) {
  const ElementType type = d.type();
  const Channels c(d);
  WindowDraw w = window(d, spatial_rank(d), true);
  Ints padding;
  for (size_t i = 0; i < w.in.size(); ++i) {
    w.in[i] = d.between(1, 6);
    padding.push_back(d.below(std::max(w.strides[i], w.dilations[i])));
    // Something must be left of what the windows cover.
    const int64_t covered = (w.in[i] - 1) * w.strides[i] + w.extent(i);
    w.begins[i] = std::min(w.begins[i], (covered - 1) / 2);
    w.ends[i] = std::min(w.ends[i], (covered - 1) / 2);
  }
  d.input(type, joined({d.dim(), c.groups * c.in}, w.in));
  d.ordinary_weights(type, joined({c.groups * c.in, c.out}, w.kernel), -1, 1);
  if (d.flag()) d.weights(type, {c.groups * c.out});
  if (c.groups != 1) d.attribute("group", c.groups);
  if (d.flag()) d.attribute("output_padding", padding);
  window_attributes(d, w, d.below(4) == 3);
}

void pool(Draw& d) {
  const std::string_view type = d.generator().type;
  const bool max = type == "MaxPool";
  const WindowDraw w = window(d, spatial_rank(d), true);
  d.input(d.type(), joined({d.dim(), d.dim()}, w.in), max ? -100 : -2, max ? 100 : 2);
  d.attribute("kernel_shape", w.kernel);
  window_attributes(d, w, d.below(4) == 3);
  d.attributes("ceil_mode:i=|1");
  d.attributes(d.generator().attributes);
  if (max && d.below(4) == 3) {
    d.call().outputs = 2;
    d.attributes("storage_order:i=|1");
  }
}

void global_pool(Draw& d) {
  Shape shape{d.dim(), d.dim()};
  for (int64_t more = spatial_rank(d); more > 0; --more) shape.push_back(d.between(1, 9));
  d.input(d.type(), shape);
  d.attributes(d.generator().attributes);
}

/// Bins may be larger than the plane. Nothing can be made of a plane without elements.
void adaptive_pool(Draw& d) {
  Shape shape{d.dim(), d.dim()};
  Ints sizes;
  for (int64_t rank = spatial_rank(d); rank > 0; --rank) {
    shape.push_back(d.dim());
    sizes.push_back(d.between(1, 7));
  }
  const bool empty = std::count(shape.begin() + 2, shape.end(), 0) > 0;
  for (int64_t& size : sizes) {
    if (empty || d.below(16) == 15) size = 0;
  }
  d.input(d.type(), shape);
  d.ints(sizes);
  if (d.generator().type == "AdaptiveMaxPool" && d.flag()) {
    d.call().outputs = 2;
    d.attributes("index_element_type:s=|i32|i64");
  }
}

void conv_integer(Draw& d) {
  const Channels c(d);
  const WindowDraw w = window(d, spatial_rank(d), true);
  const ElementType x = d.type("u8 i8");
  const ElementType weights = d.type("i8 u8");
  const int64_t zero_points = d.below(3);
  d.input(x, joined({d.dim(), c.groups * c.in}, w.in), -128, 255);
  d.weights(weights, joined({c.groups * c.out, c.in}, w.kernel), -128, 255);
  if (zero_points > 0) d.weights(x, {}, 0, 100);
  if (zero_points > 1) d.weights(weights, d.flag() ? Shape{} : Shape{c.groups * c.out}, 0, 100);
  if (c.groups != 1) d.attribute("group", c.groups);
  window_attributes(d, w, d.below(4) == 3);
}

void deform_conv(Draw& d) {
  const ElementType type = d.type();
  const int64_t groups = d.pick<int64_t>({1, 2});
  const int64_t offset_groups = d.pick<int64_t>({1, 2});
  const int64_t channels = groups * offset_groups * d.between(1, 2);
  const int64_t oc = groups * d.between(1, 3);
  const WindowDraw w = window(d, 2, true);
  const int64_t taps = w.kernel[0] * w.kernel[1] * offset_groups;
  const int64_t n = d.between(1, 2);
  const Ints out{w.count(0), w.count(1)};
  d.input(type, joined({n, channels}, w.in));
  d.ordinary_weights(type, joined({oc, channels / groups}, w.kernel), -1, 1);
  d.input(type, joined({n, 2 * taps}, out), -2, 2);
  const int64_t optional = d.below(4);  // bits: bias, mask
  if ((optional & 1) != 0) {
    d.weights(type, {oc});
  } else if (optional != 0) {
    d.omit();
  }
  if ((optional & 2) != 0) d.input(type, joined({n, taps}, out), 0, 1);
  if (groups != 1) d.attribute("group", groups);
  if (offset_groups != 1) d.attribute("offset_group", offset_groups);
  window_attributes(d, w, false);
}

void col2im(Draw& d) {
  const int64_t rank = d.between(1, 3);
  const WindowDraw w = window(d, rank, true);
  int64_t block = 1;
  int64_t count = 1;
  for (size_t i = 0; i < w.in.size(); ++i) {
    block *= w.kernel[i];
    count *= w.count(i);
  }
  d.input(d.type(), {d.dim(), d.between(1, 3) * block, count});
  d.ints(w.in);
  d.ints(w.kernel);
  window_attributes(d, w, false);
}

/// Indices as MaxPool gives them; two may be equal only where their values are.
void max_unpool(Draw& d) {
  const int64_t rank = d.between(1, 3);
  Shape shape{d.between(1, 2), d.between(1, 3)};
  Ints kernel, strides;
  int64_t total = shape[0] * shape[1];
  for (int64_t i = 0; i < rank; ++i) {
    kernel.push_back(d.between(1, 3));
    strides.push_back(d.between(1, 3));
    shape.push_back(d.between(1, 4));
    total *= (shape.back() - 1) * strides.back() + kernel.back();
  }
  d.input(d.type(), shape);
  const int64_t count = element_count(shape);
  Ints places;
  for (int64_t i = 0; i < count; ++i) places.push_back(i * total / count);
  Tensor indices = Draw::list(ElementType::Int64, places);
  d.input(*indices.reshaped(shape));
  d.attribute("kernel_shape", kernel);
  d.attribute("strides", strides);
}

/// [x1, y1, x2, y2] within and somewhat around a picture.
Tensor regions(Draw& d, ElementType type, int64_t count, double height, double width,
               bool batch_first, int64_t batch) {
  const int64_t columns = batch_first ? 5 : 4;
  Tensor numbers = d.tensor(ElementType::Float32, {count, columns}, 0, 0.99);
  Tensor boxes = *Tensor::allocate({ElementType::Float32, {count, columns}});
  for (int64_t r = 0; r < count; ++r) {
    const float* part = numbers.data<float>() + r * columns;
    float* box = boxes.data<float>() + r * columns;
    if (batch_first)
      *box++ = static_cast<float>(static_cast<int64_t>(*part++ * static_cast<float>(batch)));
    for (const int64_t axis : {0, 1}) {
      const auto length = static_cast<float>(axis == 0 ? width : height);
      box[axis] = (part[axis] * 1.25f - 0.25f) * length;
      box[axis + 2] = box[axis] + part[axis + 2] * length;
    }
  }
  return converted(boxes, type);
}

void max_roi_pool(Draw& d) {
  const Shape x{d.between(1, 2), d.size(), d.between(1, 9), d.between(1, 9)};
  const double scale = d.pick<double>({1, 0.5});
  d.input(ElementType::Float32, x);
  d.input(regions(d, ElementType::Float32, d.dim(), static_cast<double>(x[2]) / scale,
                  static_cast<double>(x[3]) / scale, true, x[0]));
  d.attribute("pooled_shape", Ints{d.between(1, 4), d.between(1, 4)});
  if (scale != 1) d.attribute("spatial_scale", static_cast<float>(scale));
}

void roi_align(Draw& d) {
  const ElementType type = d.type();
  const Shape x{d.between(1, 2), d.size(), d.between(1, 9), d.between(1, 9)};
  const double scale = d.pick<double>({1, 0.5});
  const int64_t count = d.dim();
  d.input(type, x);
  d.input(regions(d, type, count, static_cast<double>(x[2]) / scale,
                  static_cast<double>(x[3]) / scale, false, 1));
  d.input(ElementType::Int64, {count}, 0, static_cast<double>(x[0] - 1));
  const int64_t height = d.between(1, 4);
  const int64_t width = d.between(1, 4);
  if (d.generator().domain == "het") {
    d.attribute("pooled_h", height);
    d.attribute("pooled_w", width);
    d.attribute("spatial_scale", static_cast<float>(scale));
    d.attributes(
        "sampling_ratio:i=2|0|1 mode:s=avg|max aligned_mode:s=|half_pixel|half_pixel_for_nn");
  } else {
    d.attribute("output_height", height);
    d.attribute("output_width", width);
    if (scale != 1) d.attribute("spatial_scale", static_cast<float>(scale));
    d.attributes(
        "sampling_ratio:i=2|0|1 mode:s=|max coordinate_transformation_mode:s=|output_half_pixel");
  }
}

constexpr Generator kWindowTable[] = {
    {"", "Conv", conv, kFloats},
    {"", "ConvTranspose", conv_transpose, kFloats},
    {"", "ConvInteger", conv_integer},
    {"", "DeformConv", deform_conv, kFloats},
    {"het", "DeformConv", deform_conv, kFloats},
    {"het", "AdaptiveAvgPool", adaptive_pool, kFloats},
    {"het", "AdaptiveMaxPool", adaptive_pool, kFloats},
    {"", "MaxPool", pool, "f32 f16 f64 bf16 u8 i8"},
    {"", "AveragePool", pool, kFloats, -2, 2, "count_include_pad:i=|1"},
    {"", "LpPool", pool, kFloats, -2, 2, "p:i=|1|2|3"},
    {"", "GlobalMaxPool", global_pool, kFloats},
    {"", "GlobalAveragePool", global_pool, kFloats},
    {"", "GlobalLpPool", global_pool, kFloats, -2, 2, "p:i=|1|3"},
    {"", "Col2Im", col2im, "f32 f16 i32 u8 f64"},
    {"", "MaxUnpool", max_unpool, kFloats},
    {"", "MaxRoiPool", max_roi_pool},
    {"", "RoiAlign", roi_align, "f32 f64"},
    {"het", "ROIAlign", roi_align, "f32 f64"},
};

}  // namespace

std::span<const Generator> window_generators() {
  return kWindowTable;
}

}  // namespace het::oracle
