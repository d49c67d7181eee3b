#include <algorithm>
#include <numeric>

#include "inference/readers/openvino_ir/own_operator.h"
#include "inference/readers/openvino_ir/translate.h"

/// Interpolate in its four versions. Versions 1 (the form of opset1) and 11 are brought into the
/// form of version 4; what ONNX' Resize lacks stays an operator of our own in that form.
namespace het::ir {
namespace {

/// A layer in the form of version 4: sizes or scales along some axes.
struct Interpolation {
  std::string mode;
  std::string coordinates;
  std::string nearest;
  bool by_scales = false;
  bool antialias = false;
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
  form.antialias = context.flag("antialias", false);
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
  form.antialias = context.flag("antialias", false);
  form.by_scales = context.text("shape_calculation_mode", "sizes") == "scales";
  form.cube_coeff = context.real("cube_coeff", -0.75f);
  if (form.mode == "bilinear_pillow" || form.mode == "bicubic_pillow") {
    if (form.mode == "bicubic_pillow") form.cube_coeff = -0.5f;
    form.mode = form.mode == "bilinear_pillow" ? "linear" : "cubic";
    form.coordinates = "half_pixel";
    form.antialias = true;
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

bool is_zero(const std::vector<int64_t>& values) {
  return std::all_of(values.begin(), values.end(), [](int64_t value) { return value == 0; });
}

/// "simple" rounds down where it enlarges and up where it shrinks. Empty when the sizes are not
/// known or both happens.
std::string simple_rounding(LayerContext& context) {
  const Shape& from = context.input_shape(0);
  const Shape& to = context.output_shape(0);
  if (from.size() != to.size() || !is_static(from) || !is_static(to)) return {};
  bool enlarges = true;
  bool shrinks = true;
  for (size_t i = 0; i < from.size(); ++i) {
    enlarges = enlarges && to[i] >= from[i];
    shrinks = shrinks && to[i] <= from[i];
  }
  return enlarges ? "floor" : shrinks ? "ceil" : "";
}

/// Brings the names of modes into ONNX' form; false when Resize has no such mode.
bool onnx_modes(LayerContext& context, Interpolation& form) {
  const bool nearest = form.mode == "nearest";
  if (form.mode == "linear_onnx") form.mode = "linear";
  if (form.mode != "nearest" && form.mode != "linear" && form.mode != "cubic") return false;
  if (nearest) form.antialias = false;
  if (form.nearest == "simple") {
    form.nearest = nearest ? simple_rounding(context) : "floor";
    if (form.nearest.empty()) return false;
  }
  if (form.coordinates == "tf_half_pixel_for_nn") {
    // Half a pixel to the right of half_pixel: floor(x + 0.5) prefers the ceiling.
    if (!nearest) return false;
    if (form.nearest == "floor") {
      form.nearest = "round_prefer_ceil";
    } else if (form.nearest == "round_prefer_floor") {
      form.nearest = "ceil";
    } else {
      return false;
    }
    form.coordinates = "half_pixel";
  }
  // The filters of OpenVINO's antialiasing and ONNX' agree for linear ones.
  return true;
}

void finish_own(LayerContext& context, const Interpolation& form) {
  Attributes attributes;
  attributes.set("mode", form.mode);
  attributes.set("shape_calculation_mode", std::string(form.by_scales ? "scales" : "sizes"));
  attributes.set("coordinate_transformation_mode", form.coordinates);
  attributes.set("nearest_mode", form.nearest);
  attributes.set("antialias", int64_t{form.antialias});
  attributes.set("cube_coeff", form.cube_coeff);
  attributes.set("pads_begin", form.pads_begin);
  attributes.set("pads_end", form.pads_end);
  context.finish("Interpolate",
                 {context.input(0), form.by_scales ? form.scales : form.sizes,
                  context.integers_constant("axes", form.axes)},
                 std::move(attributes), "het");
}

void interpolate(LayerContext& context) {
  if (context.input_rank(0) == 0) {
    return context.refuse("Interpolate of an input of unknown rank is not supported");
  }
  const bool first = context.opset() < 4;
  Interpolation form = first ? read_first_form(context) : read_later_form(context);
  if (!context.refusal().empty()) return;
  form.pads_begin = context.integers("pads_begin");
  form.pads_end = context.integers("pads_end");
  Interpolation onnx = form;
  if (!onnx_modes(context, onnx)) return finish_own(context, form);
  Value* data = context.input(0);
  if (!is_zero(form.pads_begin) || !is_zero(form.pads_end)) {
    const auto rank = static_cast<size_t>(context.input_rank(0));
    std::vector<int64_t> pads = form.pads_begin;
    pads.resize(rank, 0);
    pads.insert(pads.end(), form.pads_end.begin(), form.pads_end.end());
    pads.resize(2 * rank, 0);
    data = context.add("Pad", {data, context.integers_constant("pads", pads)});
  }
  Attributes attributes;
  attributes.set("mode", onnx.mode);
  attributes.set("coordinate_transformation_mode", onnx.coordinates);
  if (onnx.mode == "nearest") attributes.set("nearest_mode", onnx.nearest);
  if (onnx.mode == "cubic") attributes.set("cubic_coeff_a", onnx.cube_coeff);
  if (onnx.antialias) attributes.set("antialias", int64_t{1});
  attributes.set("axes", onnx.axes);
  if (onnx.by_scales) {
    Value* const scales = context.input_type(context.opset() >= 11 ? 1 : 2) == ElementType::Float32
                              ? onnx.scales
                              : context.cast(onnx.scales, ElementType::Float32);
    return context.finish("Resize", {data, nullptr, scales}, std::move(attributes));
  }
  context.finish("Resize", {data, nullptr, nullptr, onnx.sizes}, std::move(attributes));
}

constexpr Translation kTable[] = {{"Interpolate", interpolate}};

}  // namespace

std::span<const Translation> resize_translations() {
  return kTable;
}

}  // namespace het::ir
