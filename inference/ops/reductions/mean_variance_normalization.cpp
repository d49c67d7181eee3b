#include <cmath>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/reductions/reduce_plan.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Result<std::vector<int64_t>> normalized_axes(const Node& node, const Shape& x) {
  HET_TRY(check_attributes(node.attributes(), {{"axes", AttributeType::Ints}}));
  return normalize_axes(node.attributes().get_ints("axes", {0, 2, 3}),
                        static_cast<int64_t>(x.size()));
}

Status infer_mean_variance_normalization(InferContext& context) {
  HET_TRY(check_input(context, 0, "X", kFloatTypes));
  HET_TRY(normalized_axes(context.node(), context.shape(0)));
  context.set_output(0, context.type(0), context.shape(0));
  return {};
}

/// (x - mean) / (deviation + 1e-9) over the axes, in double; the constant is that of the operator's
/// function body in ONNX.
Status evaluate_mean_variance_normalization(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  if (x.element_count() == 0) return {};
  HET_ASSIGN(const std::vector<int64_t> axes, normalized_axes(context.node(), x.shape()));
  const ReducePlan plan = plan_reduce(x.shape(), axes);
  const auto count = static_cast<double>(plan.inner.size());
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    const T* src = x.data<T>();
    T* dst = context.output(0).data<T>();
    for (const int64_t start : plan.outer) {
      double sum = 0;
      for (const int64_t offset : plan.inner) sum += static_cast<double>(src[start + offset]);
      const double mean = sum / count;
      double squares = 0;
      for (const int64_t offset : plan.inner) {
        const double distance = static_cast<double>(src[start + offset]) - mean;
        squares += distance * distance;
      }
      const double deviation = std::sqrt(squares / count) + 1e-9;
      for (const int64_t offset : plan.inner) {
        dst[start + offset] =
            numeric_cast<T>((static_cast<double>(src[start + offset]) - mean) / deviation);
      }
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_mean_variance_normalization(OpRegistry& registry) {
  registry.add({"MeanVarianceNormalization", "", 13, 1, 1, infer_mean_variance_normalization,
                evaluate_mean_variance_normalization});
}

}  // namespace het
