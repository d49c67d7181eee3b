#include <algorithm>
#include <limits>
#include <numeric>

#include "inference/readers/openvino_ir/translate.h"

/// Interpolate in its four versions. Versions 1 (the form of opset1) and 11 are brought into the
/// form of version 4, and that into ONNX' Resize. OpenVINO's CPU device knows no antialiasing
/// outside the modes of Pillow: the attribute `antialias` is ignored, as there.
namespace het::ir {
namespace {

/// A layer in the form of version 4: sizes or scales along some axes.
struct Interpolation {
  std::string mode;
  std::string coordinates;
  std::string nearest;
  bool by_scales = false;
  bool pillow = false;  ///< filters as wide as the picture shrinks, nothing from outside
  float cube_coeff = -0.75f;
  Value* sizes = nullptr;
  Value* scales = nullptr;
  std::vector<int64_t> axes;
  std::vector<int64_t> pads_begin;
  std::vector<int64_t> pads_end;
};

std::vector<int64_t> all_axes(int64_t rank) {
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), int64_t{0});
  return axes;
}

/// Opset 1: inputs data and output sizes; the axes are an attribute.
Interpolation read_first_form(LayerContext& context) {
  Interpolation form;
  form.mode = context.text("mode", "nearest");
  if (form.mode == "linear") form.mode = "linear_onnx";
  form.coordinates = context.flag("align_corners", true) ? "align_corners" : "asymmetric";
  form.nearest = "simple";
  form.sizes = context.integer_list(context.input(1));
  form.axes = context.integers("axes");
  return form;
}

/// Opset 4: data, sizes, scales, axes. Opset 11: data, sizes or scales, axes.
Interpolation read_later_form(LayerContext& context) {
  const bool newest = context.opset() >= 11;
  Interpolation form;
  form.mode = context.text("mode", "nearest");
  form.coordinates = context.text("coordinate_transformation_mode", "half_pixel");
  form.nearest = context.text("nearest_mode", "round_prefer_floor");
  form.by_scales = context.text("shape_calculation_mode", "sizes") == "scales";
  form.cube_coeff = context.real("cube_coeff", -0.75f);
  if (form.mode == "bilinear_pillow" || form.mode == "bicubic_pillow") {
    if (form.mode == "bicubic_pillow") form.cube_coeff = -0.5f;
    form.mode = form.mode == "bilinear_pillow" ? "linear" : "cubic";
    form.coordinates = "half_pixel";
    form.pillow = true;
  }
  if (form.by_scales) {
    form.scales = context.input(newest ? 1 : 2);
  } else {
    form.sizes = context.integer_list(context.input(1));
  }
  const size_t axes = newest ? 2 : 3;
  form.axes = context.has_input(axes) ? context.required_integers(axes, "axes")
                                      : all_axes(context.input_rank(0));
  return form;
}

/// Entries of a list of one entry per axis.
Value* entries(LayerContext& context, Value* list, const std::vector<int64_t>& which) {
  return context.add("Gather", {list, context.integers_constant("which", which)});
}

/// The places of these forms follow from both sizes, which are whole numbers, not from the scale.
bool is_placed_by_sizes(const Interpolation& form) {
  return form.pillow || form.coordinates == "align_corners";
}

/// The whole sizes that scales lead to.
Value* sizes_of_scales(LayerContext& context, const Interpolation& form, Value* data) {
  constexpr float kEpsilon = 1e-6f;  // OpenVINO's, for scales like 7/5
  Value* const whole = context.cast(context.add("Shape", {data}), ElementType::Float32);
  Value* const from = entries(context, whole, form.axes);
  Value* const to = context.add("Add", {context.add("Mul", {from, form.scales}),
                                        context.constant("epsilon", Tensor::scalar(kEpsilon))});
  return context.cast(context.add("Floor", {to}), ElementType::Int64);
}

bool is_zero(const std::vector<int64_t>& values) {
  return std::all_of(values.begin(), values.end(), [](int64_t value) { return value == 0; });
}

/// No sum of pads and sizes overflows.
bool are_moderate(const std::vector<int64_t>& pads) {
  return std::all_of(pads.begin(), pads.end(), [](int64_t pad) {
    return pad >= 0 && pad <= std::numeric_limits<int32_t>::max();
  });
}

/// "simple" rounds down where it enlarges and up where it shrinks: the axes of either kind. False
/// when the sizes are not known.
bool split_axes(LayerContext& context, const Interpolation& form, std::vector<int64_t>& enlarged,
                std::vector<int64_t>& shrunk) {
  const Shape& from = context.input_shape(0);
  const Shape& to = context.output_shape(0);
  const auto rank = static_cast<int64_t>(from.size());
  if (from.size() != to.size()) return false;
  for (size_t i = 0; i < form.axes.size(); ++i) {
    const int64_t axis = context.normalized(form.axes[i], rank);
    const auto at = static_cast<size_t>(axis);
    const int64_t added = (at < form.pads_begin.size() ? form.pads_begin[at] : 0) +
                          (at < form.pads_end.size() ? form.pads_end[at] : 0);
    if (from[at] == kUnknownDim || to[at] == kUnknownDim) return false;
    (to[at] - added >= from[at] ? enlarged : shrunk).push_back(static_cast<int64_t>(i));
  }
  return true;
}

struct ResizeNode {
  std::vector<Value*> inputs;
  Attributes attributes;
};

ResizeNode resize_node(const Interpolation& form, Value* data) {
  ResizeNode node;
  node.attributes.set("mode", form.mode == "linear_onnx" ? "linear" : form.mode);
  node.attributes.set("coordinate_transformation_mode", form.coordinates);
  if (form.mode == "nearest") node.attributes.set("nearest_mode", form.nearest);
  if (form.mode == "cubic") node.attributes.set("cubic_coeff_a", form.cube_coeff);
  if (form.pillow) {
    node.attributes.set("antialias", int64_t{1});
    node.attributes.set("exclude_outside", int64_t{1});
  }
  node.attributes.set("axes", form.axes);
  node.inputs = {data, nullptr, form.scales, form.sizes};
  return node;
}

/// One Resize for the axes that are enlarged, a second one for those that shrink.
void resize_simply(LayerContext& context, const Interpolation& form, Value* data) {
  std::vector<int64_t> enlarged;
  std::vector<int64_t> shrunk;
  if (!split_axes(context, form, enlarged, shrunk)) {
    return context.refuse(
        "Interpolate with nearest_mode simple of unknown sizes is not supported; reshape the model "
        "to fixed sizes when converting it");
  }
  const auto part = [&](const std::vector<int64_t>& which, const char* rounding) {
    Interpolation own = form;
    own.nearest = rounding;
    if (which.size() == form.axes.size()) return own;
    own.axes.clear();
    for (const int64_t i : which) own.axes.push_back(form.axes[static_cast<size_t>(i)]);
    if (form.sizes != nullptr) own.sizes = entries(context, form.sizes, which);
    if (form.scales != nullptr) own.scales = entries(context, form.scales, which);
    return own;
  };
  if (!enlarged.empty() && !shrunk.empty()) {
    ResizeNode first = resize_node(part(enlarged, "floor"), data);
    data = context.add("Resize", std::move(first.inputs), std::move(first.attributes));
  }
  ResizeNode last =
      resize_node(shrunk.empty() ? part(enlarged, "floor") : part(shrunk, "ceil"), data);
  context.finish("Resize", std::move(last.inputs), std::move(last.attributes));
}

void interpolate(LayerContext& context) {
  if (context.input_rank(0) == 0) {
    return context.refuse("Interpolate of an input of unknown rank is not supported");
  }
  const bool first = context.opset() < 4;
  Interpolation form = first ? read_first_form(context) : read_later_form(context);
  if (!context.refusal().empty() || !context.status().ok()) return;
  if (form.mode != "nearest" && form.mode != "linear" && form.mode != "linear_onnx" &&
      form.mode != "cubic") {
    return context.refuse(fmt::format("Interpolate in mode {} is not supported", form.mode));
  }
  form.pads_begin = context.integers("pads_begin");
  form.pads_end = context.integers("pads_end");
  if (!are_moderate(form.pads_begin) || !are_moderate(form.pads_end)) {
    return context.refuse("Interpolate adds pads of more than 2^31 or removes some");
  }
  Value* data = context.input(0);
  if (!is_zero(form.pads_begin) || !is_zero(form.pads_end)) {
    const auto rank = static_cast<size_t>(context.input_rank(0));
    std::vector<int64_t> pads = form.pads_begin;
    pads.resize(rank, 0);
    pads.insert(pads.end(), form.pads_end.begin(), form.pads_end.end());
    pads.resize(2 * rank, 0);
    data = context.add("Pad", {data, context.integers_constant("pads", pads)});
  }
  if (form.by_scales && context.input_type(context.opset() >= 11 ? 1 : 2) != ElementType::Float32) {
    form.scales = context.cast(form.scales, ElementType::Float32);
  }
  if (form.by_scales && is_placed_by_sizes(form)) {
    form.sizes = sizes_of_scales(context, form, data);
    form.scales = nullptr;
  }
  if (form.mode == "nearest" && form.nearest == "simple") return resize_simply(context, form, data);
  ResizeNode node = resize_node(form, data);
  context.finish("Resize", std::move(node.inputs), std::move(node.attributes));
}

constexpr Translation kResizeTable[] = {{"Interpolate", interpolate}};

}  // namespace

std::span<const Translation> resize_translations() {
  return kResizeTable;
}

}  // namespace het::ir
