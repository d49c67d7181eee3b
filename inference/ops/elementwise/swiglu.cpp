#include <cmath>

#include "inference/base/registration.h"
#include "inference/ops/double_values.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

Status infer_swiglu(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"alpha", AttributeType::Float}}));
  HET_TRY(check_input(context, 0, "A", kFloatTypes));
  HET_TRY(check_same_type(context, 0, 1));
  if (context.shape(0) != context.shape(1)) {
    return error(StatusCode::ShapeMismatch, "A has shape {}, B {}, but they must be equal",
                 to_string(context.shape(0)), to_string(context.shape(1)));
  }
  context.set_output(0, context.type(0), context.shape(0));
  return {};
}

/// a * sigmoid(alpha a) * b, in double.
Status evaluate_swiglu(EvaluateContext& context) {
  const auto alpha = static_cast<double>(context.attributes().get_float("alpha", 1.0f));
  HET_ASSIGN(std::vector<double> y, to_double_vector(context.input(0)));
  HET_ASSIGN(const std::vector<double> b, to_double_vector(context.input(1)));
  for (size_t i = 0; i < y.size(); ++i) y[i] = y[i] / (1 + std::exp(-alpha * y[i])) * b[i];
  return store_doubles(y, context.output(0));
}

}  // namespace

HET_REGISTRATION void register_swiglu(OpRegistry& registry) {
  registry.add({"SwiGLU", "", 28, 2, 2, infer_swiglu, evaluate_swiglu});
}

}  // namespace het
