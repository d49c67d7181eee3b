#include <type_traits>

#include "inference/base/registration.h"
#include "inference/ops/axis_split.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

constexpr TypeSet kCumulativeTypes = kFloatTypes | TypeSet{ElementType::Int32, ElementType::UInt32,
                                                           ElementType::Int64, ElementType::UInt64};

Result<AxisSplit> cumulative_split(const Shape& x, const std::vector<int64_t>& axis) {
  if (axis.size() != 1) {
    return error(StatusCode::InvalidArgument, "axis has {} values, but must have one", axis.size());
  }
  return axis_split(x, axis.front());
}

Status infer_cumulative(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(),
                           {{"exclusive", AttributeType::Int}, {"reverse", AttributeType::Int}}));
  HET_TRY(check_input(context, 0, "x", kCumulativeTypes));
  HET_ASSIGN(const auto axis, known_ints(context, 1, "axis"));
  if (axis) HET_TRY(cumulative_split(context.shape(0), *axis));
  context.set_output(0, context.type(0), context.shape(0));
  return {};
}

/// Sums or products in double; integers wrap around. Order: outer, inner, then along the axis.
template <bool kProduct>
Status evaluate_cumulative(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  const bool exclusive = context.attributes().get_int("exclusive", 0) != 0;
  const bool reverse = context.attributes().get_int("reverse", 0) != 0;
  HET_ASSIGN(const std::vector<int64_t> axis, to_int64_vector(context.input(1)));
  HET_ASSIGN(const AxisSplit split, cumulative_split(x.shape(), axis));
  if (x.element_count() == 0) return {};
  return dispatch_numeric(x.type(), [&]<class T>() -> Status {
    using Acc = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
    const T* src = x.data<T>();
    T* dst = context.output(0).data<T>();
    for (int64_t outer = 0; outer < split.outer; ++outer) {
      for (int64_t inner = 0; inner < split.inner; ++inner) {
        Acc total(kProduct ? 1 : 0);
        for (int64_t step = 0; step < split.length; ++step) {
          const int64_t i = reverse ? split.length - 1 - step : step;
          const int64_t at = (outer * split.length + i) * split.inner + inner;
          const Acc before = total;
          const auto value = static_cast<Acc>(src[at]);
          total = kProduct ? total * value : total + value;
          dst[at] = numeric_cast<T>(exclusive ? before : total);
        }
      }
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_cum_sum(OpRegistry& registry) {
  registry.add({"CumSum", "", 14, 2, 2, infer_cumulative, evaluate_cumulative<false>});
  registry.add({"CumProd", "", 26, 2, 2, infer_cumulative, evaluate_cumulative<true>});
}

}  // namespace het
