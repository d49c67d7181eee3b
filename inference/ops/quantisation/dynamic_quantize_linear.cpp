#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/quantisation/quantization.h"

namespace het {
namespace {

Status infer_dynamic_quantize_linear(InferContext& context) {
  HET_TRY(check_input(context, 0, "x", {ElementType::Float32}));
  context.set_output(0, ElementType::UInt8, context.shape(0));
  context.set_output(1, ElementType::Float32, {});
  context.set_output(2, ElementType::UInt8, {});
  return {};
}

/// In float.
Status evaluate_dynamic_quantize_linear(EvaluateContext& context) {
  const std::span<float> x = context.input(0).values<float>();
  const auto [scale, zero_point] = dynamic_scale(x);
  uint8_t* y = context.output(0).data<uint8_t>();
  for (size_t i = 0; i < x.size(); ++i)
    y[i] = saturate_quantized<uint8_t>(x[i] / scale, zero_point);
  if (context.has_output(1)) *context.output(1).data<float>() = scale;
  if (context.has_output(2)) *context.output(2).data<uint8_t>() = zero_point;
  return {};
}

}  // namespace

HET_REGISTRATION void register_dynamic_quantize_linear(OpRegistry& registry) {
  registry.add({"DynamicQuantizeLinear", "", 11, 1, 1, infer_dynamic_quantize_linear,
                evaluate_dynamic_quantize_linear});
}

}  // namespace het
