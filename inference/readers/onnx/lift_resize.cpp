#include <algorithm>

#include "inference/readers/onnx/lift_rules.h"

namespace het::onnx {
namespace {

/// X, scales -> X, no roi, scales, sampled at x / scale as everything before opset 11.
void make_asymmetric_resize(LiftContext& context, Value* scales, std::string nearest_mode) {
  PendingNode& node = context.node();
  node.op_type = "Resize";
  node.inputs = {node.input(0), nullptr, scales};
  std::string mode = node.attributes.get_string("mode", "nearest");
  if (mode == "bilinear") mode = "linear";
  node.attributes.set("mode", std::move(mode));
  node.attributes.set("coordinate_transformation_mode", std::string("asymmetric"));
  node.attributes.set("nearest_mode", std::move(nearest_mode));
}

/// Resize-10 takes the pixel to the left where it enlarges and the one to the right where it
/// shrinks (the reference outputs of opset 10 and ONNX Runtime's "simple" rounding). Empty when
/// that is not known or differs between axes.
std::string nearest_mode_of(const Value& scales) {
  if (!scales.is_constant() || scales.constant().type() != ElementType::Float32) return {};
  const auto values = scales.constant().values<float>();
  const bool enlarges = std::all_of(values.begin(), values.end(), [](float s) { return s >= 1; });
  const bool shrinks = std::all_of(values.begin(), values.end(), [](float s) { return s <= 1; });
  return enlarges ? "floor" : shrinks ? "ceil" : "";
}

/// tf_half_pixel_for_nn of opset 11 and 12 lies half a pixel to the right of half_pixel; two of the
/// four ways of rounding it are other ways of rounding half_pixel: floor(x + 0.5) prefers the
/// ceiling, ceil(x - 0.5) the floor. Returns the mode for half_pixel, or an empty text.
std::string half_pixel_rounding(const Attributes& attributes) {
  if (attributes.get_string("mode", "nearest") != "nearest") return {};
  const std::string rounding = attributes.get_string("nearest_mode", "round_prefer_floor");
  if (rounding == "floor") return "round_prefer_ceil";
  if (rounding == "round_prefer_floor") return "ceil";
  return {};
}

}  // namespace

/// Upsample-1 (width_scale, height_scale), -7 (scales) and -9 (scales as input).
void lift_upsample(LiftContext& context) {
  Attributes& attributes = context.attributes();
  Value* scales = context.node().input(1);
  if (attributes.has("scales")) {
    const std::vector<float> values = attributes.get_floats("scales");
    scales = context.constant("scales",
                              Tensor::from<float>({static_cast<int64_t>(values.size())}, values));
  } else if (attributes.has("height_scale") && attributes.has("width_scale")) {
    scales = context.constant(
        "scales", Tensor::from<float>({4}, {1.0f, 1.0f, attributes.get_float("height_scale", 1.0f),
                                            attributes.get_float("width_scale", 1.0f)}));
  }
  if (scales == nullptr) return context.refuse("Upsample has no scales");
  for (const char* name : {"scales", "height_scale", "width_scale"}) attributes.erase(name);
  make_asymmetric_resize(context, scales, "floor");
}

/// Resize-10 has X and scales only. Resize-11 and -12 write unused roi and scales as empty tensors.
void lift_resize(LiftContext& context) {
  if (context.opset() < 11) {
    Value* const scales = context.node().input(1);
    if (scales == nullptr) return context.refuse("Resize has no scales");
    const bool nearest = context.attributes().get_string("mode", "nearest") == "nearest";
    std::string nearest_mode = nearest ? nearest_mode_of(*scales) : "floor";
    if (nearest_mode.empty()) {
      return context.refuse(
          "nearest Resize of opset 10 rounds differently where it enlarges and where it shrinks, "
          "which needs constant scales of one direction; export the model with opset 11 or newer");
    }
    return make_asymmetric_resize(context, scales, std::move(nearest_mode));
  }
  Attributes& attributes = context.attributes();
  if (attributes.get_string("coordinate_transformation_mode", "") == "tf_half_pixel_for_nn") {
    std::string rounding = half_pixel_rounding(attributes);
    if (rounding.empty()) {
      return context.refuse(
          "tf_half_pixel_for_nn is only supported for nearest Resize with "
          "nearest_mode floor or round_prefer_floor");
    }
    attributes.set("coordinate_transformation_mode", std::string("half_pixel"));
    attributes.set("nearest_mode", std::move(rounding));
  }
  for (const size_t index : {size_t{1}, size_t{2}}) {
    const Value* value = context.node().input(index);
    if (value != nullptr && value->is_constant() && value->constant().element_count() == 0) {
      context.node().inputs[index] = nullptr;
    }
  }
}

}  // namespace het::onnx
