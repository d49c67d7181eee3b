#include <array>
#include <cmath>

#include "inference/ops/broadcast.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

constexpr TypeSet kBaseTypes = kFloatTypes | kIndexTypes;

Status infer_pow(InferContext& context) {
  HET_TRY(check_input(context, 0, "X", kBaseTypes));
  HET_TRY(check_input(context, 1, "Y", kNumbers));
  HET_ASSIGN(Shape shape, broadcast(context.shape(0), context.shape(1)));
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

/// Exact modulo 2^64. A negative exponent gives the truncated fraction: 0, or +-1 for base +-1.
int64_t integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1;
  auto factor = static_cast<uint64_t>(base);
  for (auto rest = static_cast<uint64_t>(exponent); rest > 0; rest >>= 1) {
    if (rest & 1u) result *= factor;
    factor *= factor;
  }
  return static_cast<int64_t>(result);
}

/// The base and the result are T; E is int64_t for integer exponents, else double.
template <class T, class E>
T power(T base, E exponent) {
  if constexpr (std::is_integral_v<T> && std::is_integral_v<E>) {
    return static_cast<T>(integer_power(base, exponent));
  } else {
    // double keeps every float, half, and int32 value, and the result is rounded once
    return numeric_cast<T>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
}

template <class T, class Exponent>
void evaluate_typed(EvaluateContext& context) {
  using E = std::conditional_t<std::is_integral_v<Exponent>, int64_t, double>;
  const std::array<Shape, 2> shapes{context.input(0).shape(), context.input(1).shape()};
  const BroadcastPlan plan = plan_broadcast(context.output(0).shape(), shapes);
  const T* x = context.input(0).data<T>();
  const Exponent* e = context.input(1).data<Exponent>();
  T* y = context.output(0).data<T>();
  for_each_row<2>(plan, [&](int64_t dst, const std::array<int64_t, 2>& src) {
    for (int64_t i = 0; i < plan.dims.back(); ++i) {
      y[dst + i] = power<T, E>(x[src[0] + i * plan.strides[0].back()],
                               static_cast<E>(e[src[1] + i * plan.strides[1].back()]));
    }
  });
}

Status evaluate_pow(EvaluateContext& context) {
  return dispatch_numeric(context.input(0).type(), [&]<class T>() -> Status {
    if constexpr (std::is_floating_point_v<ArithmeticType<T>> || std::is_same_v<T, int32_t> ||
                  std::is_same_v<T, int64_t>) {
      return dispatch_numeric(context.input(1).type(), [&]<class Exponent>() -> Status {
        evaluate_typed<T, Exponent>(context);
        return {};
      });
    }
    return error(StatusCode::NotSupported, "type {} of the base is not supported",
                 to_string(context.input(0).type()));
  });
}

}  // namespace

void register_pow(OpRegistry& registry) {
  registry.add({"Pow", "", 15, 2, 2, infer_pow, evaluate_pow});
}

}  // namespace het
