#include <algorithm>
#include <cmath>
#include <string>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/reductions/reduce_plan.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Status infer_normalize_l2(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"eps", AttributeType::Float, true},
                                                  {"eps_mode", AttributeType::String, true}}));
  const std::string mode = context.attributes().get_string("eps_mode", "");
  if (mode != "add" && mode != "max") {
    return error(StatusCode::InvalidArgument, "eps_mode is '{}', but must be add or max", mode);
  }
  HET_TRY(check_input(context, 0, "data", kFloatTypes));
  HET_TRY(check_input(context, 1, "axes", kIndexTypes));
  HET_ASSIGN(const auto axes, known_ints(context, 1, "axes"));
  if (axes) HET_TRY(normalize_axes(*axes, context.rank(0)));
  context.set_output(0, context.type(0), context.shape(0));
  return {};
}

/// x / sqrt(sum of squares + eps), or x / sqrt(max(sum of squares, eps)); in double. Without axes
/// every element is normalised by itself.
/// docs.openvino.ai, operation specification NormalizeL2-1.
Status evaluate_normalize_l2(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  if (x.element_count() == 0) return {};
  const bool add = context.attributes().get_string("eps_mode", "") == "add";
  const auto eps = static_cast<double>(context.attributes().get_float("eps", 0));
  HET_ASSIGN(const std::vector<int64_t> given, to_int64_vector(context.input(1)));
  HET_ASSIGN(const std::vector<int64_t> axes, normalize_axes(given, x.rank()));
  const ReducePlan plan = plan_reduce(x.shape(), axes);
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    const T* src = x.data<T>();
    T* dst = context.output(0).data<T>();
    for (const int64_t outer : plan.outer) {
      double sum = 0;
      for (const int64_t inner : plan.inner) {
        const auto value = static_cast<double>(src[outer + inner]);
        sum += value * value;
      }
      const double norm = std::sqrt(add ? sum + eps : std::max(sum, eps));
      for (const int64_t inner : plan.inner) {
        dst[outer + inner] = numeric_cast<T>(static_cast<double>(src[outer + inner]) / norm);
      }
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_het_normalize_l2(OpRegistry& registry) {
  registry.add({"NormalizeL2", "het", 1, 2, 2, infer_normalize_l2, evaluate_normalize_l2});
}

}  // namespace het
