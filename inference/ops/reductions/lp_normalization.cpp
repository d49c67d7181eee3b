#include <cmath>

#include "inference/base/registration.h"
#include "inference/ops/axis_split.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Status infer_lp_normalization(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(),
                           {{"axis", AttributeType::Int}, {"p", AttributeType::Int}}));
  HET_TRY(check_input(context, 0, "input", kFloatTypes));
  HET_TRY(axis_split(context.shape(0), context.attributes().get_int("axis", -1)));
  const int64_t p = context.attributes().get_int("p", 2);
  if (p != 1 && p != 2) {
    return error(StatusCode::InvalidArgument, "p is {}, but must be 1 or 2", p);
  }
  context.set_output(0, context.type(0), context.shape(0));
  return {};
}

/// x / norm along the axis, in double; 0 where the norm is 0.
Status evaluate_lp_normalization(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  const bool squared = context.attributes().get_int("p", 2) == 2;
  HET_ASSIGN(const AxisSplit split,
             axis_split(x.shape(), context.attributes().get_int("axis", -1)));
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    for (int64_t outer = 0; outer < split.outer; ++outer) {
      for (int64_t inner = 0; inner < split.inner; ++inner) {
        const int64_t start = outer * split.length * split.inner + inner;
        const T* src = x.data<T>() + start;
        T* dst = context.output(0).data<T>() + start;
        double sum = 0;
        for (int64_t i = 0; i < split.length; ++i) {
          const auto value = static_cast<double>(src[i * split.inner]);
          sum += squared ? value * value : std::fabs(value);
        }
        const double norm = squared ? std::sqrt(sum) : sum;
        for (int64_t i = 0; i < split.length; ++i) {
          const auto value = static_cast<double>(src[i * split.inner]);
          dst[i * split.inner] = numeric_cast<T>(norm == 0 ? 0.0 : value / norm);
        }
      }
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_lp_normalization(OpRegistry& registry) {
  registry.add(
      {"LpNormalization", "", 22, 1, 1, infer_lp_normalization, evaluate_lp_normalization});
}

}  // namespace het
