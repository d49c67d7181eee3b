#include <cmath>
#include <string>

#include "inference/base/registration.h"
#include "inference/ops/double_values.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

Status infer_causal_conv(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"activation", AttributeType::String}}));
  const std::string activation = context.attributes().get_string("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish") {
    return error(StatusCode::InvalidArgument, "activation is '{}', but must be none, silu or swish",
                 activation);
  }
  HET_TRY(check_input(context, 0, "input", kFloatTypes));
  HET_TRY(check_rank(context, 0, "input", 3, 3));
  HET_TRY(check_input(context, 1, "weight", kFloatTypes));
  HET_TRY(check_rank(context, 1, "weight", 3, 3));
  HET_TRY(check_optional_input(context, 2, "bias", kFloatTypes));
  HET_TRY(check_optional_input(context, 3, "past_state", kFloatTypes));
  const Shape& x = context.shape(0);
  const Shape& w = context.shape(1);
  if (w[0] != x[1] || w[1] != 1 || w[2] < 1) {
    return error(StatusCode::ShapeMismatch, "weight of shape {} must be [{},1,k] with k >= 1",
                 to_string(w), x[1]);
  }
  const Shape state{x[0], x[1], w[2] - 1};
  if ((context.has_input(2) && context.shape(2) != Shape{x[1]}) ||
      (context.has_input(3) && context.shape(3) != state)) {
    return error(StatusCode::ShapeMismatch,
                 "bias must have shape [{}], past_state {}: they do not fit input {} and weight {}",
                 x[1], to_string(state), to_string(x), to_string(w));
  }
  HET_TRY(checked_element_count(state));
  context.set_output(0, context.type(0), x);
  context.set_output(1, context.type(0), state);
  return {};
}

/// Every channel's past and new values in one row, of which each output sees the last k; in double.
Status evaluate_causal_conv(EvaluateContext& context) {
  const Shape& x_shape = context.input(0).shape();
  const int64_t kernel = context.input(1).shape()[2];
  if (context.input(0).element_count() == 0 && kernel == 1) return {};
  const bool swish = context.attributes().get_string("activation", "none") != "none";
  HET_ASSIGN(const std::vector<double> x, to_double_vector(context.input(0)));
  HET_ASSIGN(const std::vector<double> weight, to_double_vector(context.input(1)));
  std::vector<double> bias(static_cast<size_t>(x_shape[1]));
  std::vector<double> past(static_cast<size_t>(x_shape[0] * x_shape[1] * (kernel - 1)));
  if (context.has_input(2)) {
    HET_ASSIGN(bias, to_double_vector(context.input(2)));
  }
  if (context.has_input(3)) {
    HET_ASSIGN(past, to_double_vector(context.input(3)));
  }
  std::vector<double> y;
  std::vector<double> state;
  y.reserve(x.size());
  for (int64_t r = 0; r < x_shape[0] * x_shape[1]; ++r) {
    const int64_t channel = r % x_shape[1];
    const auto old_row = past.begin() + r * (kernel - 1);
    const auto new_row = x.begin() + r * x_shape[2];
    std::vector<double> row(old_row, old_row + (kernel - 1));
    row.insert(row.end(), new_row, new_row + x_shape[2]);
    for (int64_t i = 0; i < x_shape[2]; ++i) {
      double sum = bias[static_cast<size_t>(channel)];
      for (int64_t k = 0; k < kernel; ++k) {
        sum += weight[static_cast<size_t>(channel * kernel + k)] * row[static_cast<size_t>(i + k)];
      }
      y.push_back(swish ? sum / (1 + std::exp(-sum)) : sum);
    }
    state.insert(state.end(), row.end() - (kernel - 1), row.end());
  }
  HET_TRY(store_doubles(y, context.output(0)));
  return context.has_output(1) ? store_doubles(state, context.output(1)) : Status();
}

}  // namespace

HET_REGISTRATION void register_causal_conv_with_state(OpRegistry& registry) {
  registry.add({"CausalConvWithState", "", 27, 2, 4, infer_causal_conv, evaluate_causal_conv});
}

}  // namespace het
