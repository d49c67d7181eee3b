#include <array>
#include <cmath>

#include "inference/base/registration.h"
#include "inference/ops/axis_split.h"
#include "inference/ops/broadcast.h"
#include "inference/ops/double_values.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/onnx_type.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Status check_broadcast_to(const InferContext& context, size_t index, std::string_view name) {
  const Shape& x = context.shape(0);
  const auto joined = broadcast(context.shape(index), x);
  if (joined && *joined == x) return {};
  return error(StatusCode::ShapeMismatch, "{} has shape {}, which does not broadcast to X's {}",
               name, to_string(context.shape(index)), to_string(x));
}

/// The shape of Mean and InvStdDev: X's with 1 from the axis on.
Result<Shape> statistics_shape(const Node& node, const Shape& x) {
  HET_ASSIGN(const int64_t axis,
             normalize_axis(node.attributes().get_int("axis", -1), static_cast<int64_t>(x.size())));
  Shape shape = x;
  std::fill(shape.begin() + axis, shape.end(), 1);
  return shape;
}

Status infer_layer_normalization(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"axis", AttributeType::Int},
                                                  {"epsilon", AttributeType::Float},
                                                  {"stash_type", AttributeType::Int}}));
  HET_TRY(check_input(context, 0, "X", kFloatTypes));
  HET_TRY(check_input(context, 1, "Scale", kFloatTypes));
  HET_TRY(check_broadcast_to(context, 1, "Scale"));
  HET_TRY(check_optional_input(context, 2, "B", kFloatTypes));
  if (context.has_input(2)) HET_TRY(check_broadcast_to(context, 2, "B"));
  HET_ASSIGN(const Shape statistics, statistics_shape(context.node(), context.shape(0)));
  const bool rms = context.node().op_type() == "RMSNormalization";
  context.set_output(0, context.type(rms ? 1 : 0), context.shape(0));
  if (context.output_count() > 1) {
    HET_ASSIGN(const ElementType stash,
               element_type_from_onnx(context.attributes().get_int("stash_type", 1)));
    if (!is_float(stash)) {
      return error(StatusCode::InvalidArgument, "stash_type is {}, but must be a float type",
                   to_string(stash));
    }
    context.set_output(1, stash, statistics);
    context.set_output(2, stash, statistics);
  }
  return {};
}

Status store_statistic(EvaluateContext& context, size_t index, int64_t at, double value) {
  if (!context.has_output(index)) return {};
  Tensor& dst = context.output(index);
  return dispatch_float(dst.type(), [&]<class T>() -> Status {
    dst.data<T>()[at] = numeric_cast<T>(value);
    return {};
  });
}

/// Replaces every row by (x - mean) / sqrt(variance + epsilon), or with `rms` by
/// x / sqrt(mean of squares + epsilon), and stores mean and 1 / deviation in outputs 1 and 2.
Status normalize_rows(EvaluateContext& context, const AxisSplit& rows, bool rms,
                      std::vector<double>& values) {
  const auto epsilon = static_cast<double>(context.attributes().get_float("epsilon", 1e-5f));
  const auto count = static_cast<double>(rows.length);
  for (int64_t r = 0; r < rows.outer; ++r) {
    const std::span<double> row(values.data() + r * rows.length, static_cast<size_t>(rows.length));
    double mean = 0;
    if (!rms) {
      for (const double value : row) mean += value;
      mean /= count;
    }
    double squares = 0;
    for (const double value : row) squares += (value - mean) * (value - mean);
    const double factor = 1 / std::sqrt(squares / count + epsilon);
    for (double& value : row) value = (value - mean) * factor;
    HET_TRY(store_statistic(context, 1, r, mean));
    HET_TRY(store_statistic(context, 2, r, factor));
  }
  return {};
}

/// Both stages in double, rounded once at the end, whatever stash_type says.
Status evaluate_normalization(EvaluateContext& context, bool rms) {
  const Tensor& x = context.input(0);
  if (x.element_count() == 0 && context.output_count() == 1) return {};
  HET_ASSIGN(const AxisSplit rows,
             flatten_from(x.shape(), context.attributes().get_int("axis", -1)));
  HET_ASSIGN(std::vector<double> values, to_double_vector(x));
  HET_TRY(normalize_rows(context, rows, rms, values));
  HET_ASSIGN(const std::vector<double> scale, to_double_vector(context.input(1)));
  std::vector<double> bias{0.0};
  Shape bias_shape;
  if (context.has_input(2)) {
    HET_ASSIGN(bias, to_double_vector(context.input(2)));
    bias_shape = context.input(2).shape();
  }
  const BroadcastPlan plan =
      plan_broadcast(x.shape(), std::array{context.input(1).shape(), bias_shape});
  const int64_t scale_step = plan.strides[0].back();
  const int64_t bias_step = plan.strides[1].back();
  Tensor& y = context.output(0);
  return dispatch_float(y.type(), [&]<class T>() -> Status {
    for_each_row<2>(plan, [&](int64_t start, const std::array<int64_t, 2>& src) {
      for (int64_t i = 0; i < plan.dims.back(); ++i) {
        y.data<T>()[start + i] =
            numeric_cast<T>(values[static_cast<size_t>(start + i)] *
                                scale[static_cast<size_t>(src[0] + i * scale_step)] +
                            bias[static_cast<size_t>(src[1] + i * bias_step)]);
      }
    });
    return {};
  });
}

Status evaluate_layer_normalization(EvaluateContext& context) {
  return evaluate_normalization(context, false);
}

Status evaluate_rms_normalization(EvaluateContext& context) {
  return evaluate_normalization(context, true);
}

}  // namespace

HET_REGISTRATION void register_layer_normalization(OpRegistry& registry) {
  registry.add({"LayerNormalization", "", 17, 2, 3, infer_layer_normalization,
                evaluate_layer_normalization});
  registry.add(
      {"RMSNormalization", "", 23, 2, 2, infer_layer_normalization, evaluate_rms_normalization});
}

}  // namespace het
