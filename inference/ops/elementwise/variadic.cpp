#include <array>
#include <string_view>
#include <vector>

#include "inference/base/registration.h"
#include "inference/ops/broadcast.h"
#include "inference/ops/elementwise/binary.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

/// Max, Min, Sum and Mean: one combining step over any number of broadcast inputs.
struct VariadicRow {
  std::string_view type;
  int since_version;
  BinaryKind step;
  TypeSet types;
  bool mean;
};

constexpr std::array kVariadicRows{
    VariadicRow{"Max", 13, BinaryKind::Max, kNumbers, false},
    VariadicRow{"Min", 13, BinaryKind::Min, kNumbers, false},
    VariadicRow{"Sum", 13, BinaryKind::Add, kFloatTypes, false},
    VariadicRow{"Mean", 13, BinaryKind::Add, kFloatTypes, true},
};

const VariadicRow& row_of(std::string_view op_type) {
  for (const VariadicRow& row : kVariadicRows) {
    if (row.type == op_type) return row;
  }
  return kVariadicRows.front();
}

Status infer_variadic(InferContext& context) {
  const VariadicRow& row = row_of(context.node().op_type());
  Shape shape;
  for (size_t i = 0; i < context.input_count(); ++i) {
    HET_TRY(check_input(context, i, "data", row.types));
    HET_TRY(check_same_type(context, 0, i));
    HET_ASSIGN(shape, broadcast(shape, context.shape(i)));
  }
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

/// Accumulates in T's arithmetic type over all inputs and rounds once.
template <class T>
void evaluate_typed(EvaluateContext& context, const VariadicRow& row) {
  using A = ArithmeticType<T>;
  A (*step)(A, A) = nullptr;
  visit_arithmetic<A>(row.step, [&](auto f) { step = f; });
  const std::span<T> y = context.output(0).values<T>();
  std::vector<A> sum(y.size());
  for (size_t k = 0; k < context.input_count(); ++k) {
    const Shape& shape = context.input(k).shape();
    const BroadcastPlan plan = plan_broadcast(context.output(0).shape(), {&shape, 1});
    const T* x = context.input(k).data<T>();
    for_each_row<1>(plan, [&](int64_t dst, const std::array<int64_t, 1>& src) {
      for (int64_t i = 0; i < plan.dims.back(); ++i) {
        const auto value = static_cast<A>(x[src[0] + i * plan.strides[0].back()]);
        A& element = sum[static_cast<size_t>(dst + i)];
        element = k == 0 ? value : step(element, value);
      }
    });
  }
  const A count = static_cast<A>(context.input_count());
  for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<T>(row.mean ? sum[i] / count : sum[i]);
}

Status evaluate_variadic(EvaluateContext& context) {
  const VariadicRow& row = row_of(context.node().op_type());
  return dispatch_numeric(context.input(0).type(), [&]<class T>() -> Status {
    evaluate_typed<T>(context, row);
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_variadic(OpRegistry& registry) {
  for (const VariadicRow& row : kVariadicRows) {
    registry.add(
        {row.type, "", row.since_version, 1, kVariadic, infer_variadic, evaluate_variadic});
  }
}

}  // namespace het
