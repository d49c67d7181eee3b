#include <algorithm>
#include <limits>

#include "inference/readers/onnx/lift_rules.h"

/// Operators that ONNX listed as experimental and dropped with version 1.5; files of that time,
/// such as those converted from Core ML, still carry them. onnx/onnx, docs/Operators.md of v1.4.
namespace het::onnx {
namespace {

/// x * factor, or x for a factor of 1.
Value* scaled(LiftContext& context, const char* name, float factor, Value* x) {
  if (factor == 1.0f) return x;
  return context.insert("Mul", {x, context.scalar_like(name, factor, x)});
}

}  // namespace

void lift_affine(LiftContext& context) {
  if (!context.require_input()) return;
  Value* const x = context.node().input(0);
  Value* const product = scaled(context, "alpha", context.attributes().get_float("alpha", 1), x);
  const float beta = context.attributes().get_float("beta", 0);
  context.become("Add", {product, context.scalar_like("beta", beta, x)});
}

void lift_crop(LiftContext& context) {
  if (!context.require_input()) return;
  const std::vector<int64_t> border = context.attributes().get_ints("border");
  const std::vector<int64_t> scale = context.attributes().get_ints("scale");
  const bool bad_border = border.size() != 4 || std::ranges::any_of(border, [](int64_t b) {
                            return b < 0 || b > std::numeric_limits<int32_t>::max();
                          });
  const bool bad_scale = std::ranges::any_of(
      scale, [](int64_t s) { return s < 1 || s > std::numeric_limits<int32_t>::max(); });
  if (bad_border || bad_scale || (!scale.empty() && scale.size() != 2)) {
    return context.refuse(
        "Crop needs a border of 4 numbers (left, top, right, bottom), none negative, and a scale "
        "of "
        "height and width, if any");
  }
  const std::vector<int64_t> starts{border[1], border[0]};
  std::vector<int64_t> ends{-border[3], -border[2]};
  for (size_t i = 0; i < 2; ++i) {
    if (!scale.empty()) ends[i] = starts[i] + scale[i];
    if (ends[i] == 0) ends[i] = std::numeric_limits<int64_t>::max();
  }
  context.become("Slice", {context.node().input(0), context.constant("starts", starts),
                           context.constant("ends", ends), context.constant("axes", {2, 3})});
}

void lift_image_scaler(LiftContext& context) {
  if (!context.require_input()) return;
  Value* const x = context.node().input(0);
  const std::vector<float> bias = context.attributes().get_floats("bias");
  if (bias.empty()) return context.refuse("ImageScaler needs a bias per channel");
  Value* const product = scaled(context, "scale", context.attributes().get_float("scale", 1), x);
  const Shape per_channel{static_cast<int64_t>(bias.size()), 1, 1};
  Value* const shift =
      context.constant("bias", Tensor::from<float>(per_channel, std::span<const float>(bias)));
  context.become("Add", {product, context.insert("CastLike", {shift, x})});
}

void lift_parametric_softplus(LiftContext& context) {
  if (!context.require_input()) return;
  Value* const x = context.node().input(0);
  Value* const inner = scaled(context, "beta", context.attributes().get_float("beta", 1), x);
  const float alpha = context.attributes().get_float("alpha", 1);
  context.become("Mul",
                 {context.insert("Softplus", {inner}), context.scalar_like("alpha", alpha, x)});
}

void lift_scaled_tanh(LiftContext& context) {
  if (!context.require_input()) return;
  Value* const x = context.node().input(0);
  Value* const inner = scaled(context, "beta", context.attributes().get_float("beta", 1), x);
  const float alpha = context.attributes().get_float("alpha", 1);
  context.become("Mul", {context.insert("Tanh", {inner}), context.scalar_like("alpha", alpha, x)});
}

void lift_scale(LiftContext& context) {
  if (!context.require_input()) return;
  Value* const x = context.node().input(0);
  const float scale = context.attributes().get_float("scale", 1);
  context.become("Mul", {x, context.scalar_like("scale", scale, x)});
}

}  // namespace het::onnx
