#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Status infer_non_zero(InferContext& context) {
  HET_TRY(check_input(context, 0, "X", kNumbersAndBool));
  context.set_output(0, ElementType::Int64, {context.rank(0), kUnknownDim});
  return {};
}

/// One column per element that is not zero, in row-major order; NaN is not zero. A scalar has no
/// coordinates: its result is [0, 0] or [0, 1].
Status evaluate_non_zero(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  std::vector<int64_t> found;
  HET_TRY(dispatch_numeric_or_bool(x.type(), [&]<class T>() -> Status {
    const std::span<const T> values = x.values<T>();
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] != T(0)) found.push_back(static_cast<int64_t>(i));
    }
    return {};
  }));
  HET_TRY(context.allocate_output(0, ElementType::Int64,
                                  {x.rank(), static_cast<int64_t>(found.size())}));
  int64_t* dst = context.output(0).data<int64_t>();
  const std::vector<int64_t> strides = row_major_strides(x.shape());
  for (size_t d = 0; d < strides.size(); ++d) {
    for (const int64_t index : found) *dst++ = index / strides[d] % x.shape()[d];
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_non_zero(OpRegistry& registry) {
  registry.add({"NonZero", "", 13, 1, 1, infer_non_zero, evaluate_non_zero});
}

}  // namespace het
