#include <limits>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Status infer_clip(InferContext& context) {
  HET_TRY(check_input(context, 0, "input", kNumbers));
  for (size_t i = 1; i < 3; ++i) {
    if (!context.has_input(i)) continue;
    const std::string_view name = i == 1 ? "min" : "max";
    HET_TRY(check_input(context, i, name, kNumbers));
    HET_TRY(check_same_type(context, 0, i));
    HET_ASSIGN(const int64_t count, checked_element_count(context.shape(i)));
    if (count != 1) {
      return error(StatusCode::ShapeMismatch, "input {} '{}' has shape {}, but must be a scalar", i,
                   name, to_string(context.shape(i)));
    }
  }
  context.set_output(0, context.type(0), context.shape(0));
  return {};
}

/// min(max(x, low), high): the upper bound wins when the bounds cross; NaN passes.
Status evaluate_clip(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  return dispatch_numeric(x.type(), [&]<class T>() -> Status {
    using A = ArithmeticType<T>;
    const auto bound = [&](size_t i) { return static_cast<A>(context.input(i).data<T>()[0]); };
    const bool has_low = context.has_input(1);
    const bool has_high = context.has_input(2);
    const A low = has_low ? bound(1) : A(0);
    const A high = has_high ? bound(2) : A(0);
    const std::span<const T> src = x.values<T>();
    T* dst = context.output(0).data<T>();
    for (size_t i = 0; i < src.size(); ++i) {
      auto value = static_cast<A>(src[i]);
      if (has_low && value < low) value = low;
      if (has_high && value > high) value = high;
      dst[i] = static_cast<T>(value);
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_clip(OpRegistry& registry) {
  registry.add({"Clip", "", 13, 1, 3, infer_clip, evaluate_clip});
}

}  // namespace het
