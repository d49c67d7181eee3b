#include <array>
#include <cmath>

#include "inference/base/registration.h"
#include "inference/ops/broadcast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/packed_integer.h"
#include "inference/ops/quantisation/quantization.h"

namespace het {
namespace {

Status infer_qlinear_binary(InferContext& context) {
  HET_TRY(check_quantized_input(context, 0, "A"));
  HET_TRY(check_quantized_input(context, 3, "B"));
  HET_TRY(check_same_type(context, 0, 3));
  HET_ASSIGN(const ElementType type, quantized_output_type(context, 6, context.type(0)));
  HET_ASSIGN(Shape shape, broadcast(context.shape(0), context.shape(3)));
  context.set_output(0, type, std::move(shape));
  return {};
}

/// Stores round(value / scale) + zero_point.
void store_real(Tensor& y, int64_t i, float value, const AffineScale& scale,
                const IntegerRange& range) {
  store_integer(
      y.bytes(), y.type(), i,
      saturate_quantized(value / scale.scale, scale.zero_point, range.lowest, range.highest));
}

/// The expression on real numbers, in float.
template <class Expression>
Status evaluate_qlinear_binary(EvaluateContext& context, const Expression& expression) {
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(3);
  Tensor& y = context.output(0);
  HET_ASSIGN(const AffineScale a_scale, affine_scale(context, 1));
  HET_ASSIGN(const AffineScale b_scale, affine_scale(context, 4));
  HET_ASSIGN(const AffineScale y_scale, affine_scale(context, 6));
  const IntegerRange range = integer_range(y.type());
  const BroadcastPlan plan = plan_broadcast(y.shape(), std::array{a.shape(), b.shape()});
  const int64_t a_step = plan.strides[0].back();
  const int64_t b_step = plan.strides[1].back();
  for_each_row<2>(plan, [&](int64_t dst, const std::array<int64_t, 2>& src) {
    for (int64_t i = 0; i < plan.dims.back(); ++i) {
      const float left = a_scale.real(load_integer(a.bytes(), a.type(), src[0] + i * a_step));
      const float right = b_scale.real(load_integer(b.bytes(), b.type(), src[1] + i * b_step));
      store_real(y, dst + i, expression(left, right), y_scale, range);
    }
  });
  return {};
}

Status evaluate_qlinear_add(EvaluateContext& context) {
  return evaluate_qlinear_binary(context, [](float a, float b) { return a + b; });
}

Status evaluate_qlinear_mul(EvaluateContext& context) {
  return evaluate_qlinear_binary(context, [](float a, float b) { return a * b; });
}

Status infer_qlinear_unary(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"alpha", AttributeType::Float}}));
  HET_TRY(check_quantized_input(context, 0, "X"));
  HET_ASSIGN(const ElementType type, quantized_output_type(context, 3, context.type(0)));
  context.set_output(0, type, context.shape(0));
  return {};
}

template <class Expression>
Status evaluate_qlinear_unary(EvaluateContext& context, const Expression& expression) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  HET_ASSIGN(const AffineScale x_scale, affine_scale(context, 1));
  HET_ASSIGN(const AffineScale y_scale, affine_scale(context, 3));
  const IntegerRange range = integer_range(y.type());
  for (int64_t i = 0; i < x.element_count(); ++i) {
    const float value = x_scale.real(load_integer(x.bytes(), x.type(), i));
    store_real(y, i, expression(value), y_scale, range);
  }
  return {};
}

Status evaluate_qlinear_sigmoid(EvaluateContext& context) {
  return evaluate_qlinear_unary(context, [](float x) { return 1.0f / (1.0f + std::exp(-x)); });
}

Status evaluate_qlinear_leaky_relu(EvaluateContext& context) {
  const float alpha = context.attributes().get_float("alpha", 0.01f);
  return evaluate_qlinear_unary(context, [alpha](float x) { return x >= 0 ? x : alpha * x; });
}

}  // namespace

HET_REGISTRATION void register_qlinear_elementwise(OpRegistry& registry) {
  registry.add(
      {"QLinearAdd", "com.microsoft", 1, 7, 8, infer_qlinear_binary, evaluate_qlinear_add});
  registry.add(
      {"QLinearMul", "com.microsoft", 1, 7, 8, infer_qlinear_binary, evaluate_qlinear_mul});
  registry.add(
      {"QLinearSigmoid", "com.microsoft", 1, 4, 5, infer_qlinear_unary, evaluate_qlinear_sigmoid});
  registry.add({"QLinearLeakyRelu", "com.microsoft", 1, 4, 5, infer_qlinear_unary,
                evaluate_qlinear_leaky_relu});
}

}  // namespace het
