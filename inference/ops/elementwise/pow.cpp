#include <array>
#include <cmath>
#include <vector>

#include "inference/base/registration.h"
#include "inference/ops/broadcast.h"
#include "inference/ops/elementwise/as_read.h"
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
    return numeric_cast<T>(
        std::pow(as_read(static_cast<double>(base)), as_read(static_cast<double>(exponent))));
  }
}

/// The exponents as int64_t where they are integers, else as double: fewer cases than types.
template <class E>
Result<std::vector<E>> read_exponents(const Tensor& tensor) {
  return dispatch_numeric(tensor.type(), [&]<class T>() -> Result<std::vector<E>> {
    const std::span<const T> values = tensor.values<T>();
    return std::vector<E>(values.begin(), values.end());
  });
}

template <class T, class E>
Status evaluate_typed(EvaluateContext& context) {
  const std::array<Shape, 2> shapes{context.input(0).shape(), context.input(1).shape()};
  const BroadcastPlan plan = plan_broadcast(context.output(0).shape(), shapes);
  HET_ASSIGN(const std::vector<E> exponents, read_exponents<E>(context.input(1)));
  const T* x = context.input(0).data<T>();
  const E* e = exponents.data();
  T* y = context.output(0).data<T>();
  for_each_row<2>(plan, [&](int64_t dst, const std::array<int64_t, 2>& src) {
    for (int64_t i = 0; i < plan.dims.back(); ++i) {
      y[dst + i] = power<T, E>(x[src[0] + i * plan.strides[0].back()],
                               e[src[1] + i * plan.strides[1].back()]);
    }
  });
  return {};
}

template <class T>
Status evaluate_base(EvaluateContext& context) {
  return is_float(context.input(1).type()) ? evaluate_typed<T, double>(context)
                                           : evaluate_typed<T, int64_t>(context);
}

Status evaluate_pow(EvaluateContext& context) {
  const ElementType base = context.input(0).type();
  if (!is_float(base)) {
    return dispatch_index(base, [&]<class T>() -> Status { return evaluate_base<T>(context); });
  }
  return dispatch_float(base, [&]<class T>() -> Status { return evaluate_base<T>(context); });
}

}  // namespace

HET_REGISTRATION void register_pow(OpRegistry& registry) {
  registry.add({"Pow", "", 15, 2, 2, infer_pow, evaluate_pow});
}

}  // namespace het
