#include <cmath>

#include "inference/base/registration.h"
#include "inference/ops/double_values.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

/// InstanceNormalization is GroupNormalization with one channel in each group.
int64_t group_count(const Node& node, const Shape& x) {
  if (node.op_type() == "InstanceNormalization") return x[1];
  return node.attributes().get_int("num_groups", 0);
}

Status infer_group_normalization(InferContext& context) {
  const bool instance = context.node().op_type() == "InstanceNormalization";
  HET_TRY(check_attributes(context.attributes(), {{"epsilon", AttributeType::Float},
                                                  {"num_groups", AttributeType::Int, !instance},
                                                  {"stash_type", AttributeType::Int}}));
  HET_TRY(check_input(context, 0, "X", kFloatTypes));
  HET_TRY(check_rank(context, 0, "X", instance ? 3 : 2, kAnyRank));
  const Shape& x = context.shape(0);
  const int64_t groups = group_count(context.node(), x);
  if ((groups < 1 && x[1] > 0) || (groups > 0 && x[1] % groups != 0)) {
    return error(StatusCode::ShapeMismatch,
                 "X of shape {} has {} channels, which {} groups do not "
                 "divide",
                 to_string(x), x[1], groups);
  }
  for (const size_t i : {size_t{1}, size_t{2}}) {
    const std::string_view name = i == 1 ? "scale" : "bias";
    HET_TRY(check_input(context, i, name, kFloatTypes));
    HET_TRY(check_same_type(context, 0, i));
    if (context.shape(i) != Shape{x[1]}) {
      return error(StatusCode::ShapeMismatch, "{} has shape {}, but must be [{}], one per channel",
                   name, to_string(context.shape(i)), x[1]);
    }
  }
  context.set_output(0, context.type(0), x);
  return {};
}

/// y = scale (x - mean) / sqrt(variance + epsilon) + bias, in double, with the population moments
/// of each group of neighbouring channels of each image.
Status evaluate_group_normalization(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  if (x.element_count() == 0) return {};
  const auto epsilon = static_cast<double>(context.attributes().get_float("epsilon", 1e-5f));
  HET_ASSIGN(const std::vector<double> scale, to_double_vector(context.input(1)));
  HET_ASSIGN(const std::vector<double> bias, to_double_vector(context.input(2)));
  const int64_t channels = x.shape()[1];
  const int64_t groups = group_count(context.node(), x.shape());
  const int64_t area = element_count(std::span(x.shape()).subspan(2));
  const int64_t size = channels / groups * area;
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    const T* src = x.data<T>();
    T* dst = context.output(0).data<T>();
    for (int64_t g = 0; g < x.shape()[0] * groups; ++g, src += size, dst += size) {
      double sum = 0;
      for (int64_t i = 0; i < size; ++i) sum += static_cast<double>(src[i]);
      const double mean = sum / static_cast<double>(size);
      double squares = 0;
      for (int64_t i = 0; i < size; ++i) {
        squares += (static_cast<double>(src[i]) - mean) * (static_cast<double>(src[i]) - mean);
      }
      const double factor = 1 / std::sqrt(squares / static_cast<double>(size) + epsilon);
      for (int64_t i = 0; i < size; ++i) {
        const auto c = static_cast<size_t>(g % groups * (channels / groups) + i / area);
        dst[i] =
            numeric_cast<T>((static_cast<double>(src[i]) - mean) * factor * scale[c] + bias[c]);
      }
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_group_normalization(OpRegistry& registry) {
  registry.add({"GroupNormalization", "", 21, 3, 3, infer_group_normalization,
                evaluate_group_normalization});
  registry.add({"InstanceNormalization", "", 22, 3, 3, infer_group_normalization,
                evaluate_group_normalization});
}

}  // namespace het
