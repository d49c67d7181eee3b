#include "inference/base/registration.h"
#include "inference/ops/axis_split.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Status infer_arg_max(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"axis", AttributeType::Int},
                                                  {"keepdims", AttributeType::Int},
                                                  {"select_last_index", AttributeType::Int}}));
  HET_TRY(check_input(context, 0, "data", kNumbers));
  HET_ASSIGN(const int64_t axis,
             normalize_axis(context.attributes().get_int("axis", 0), context.rank(0)));
  Shape shape = context.shape(0);
  const auto at = shape.begin() + axis;
  if (*at == 0) {
    return error(StatusCode::ShapeMismatch, "axis {} of data {} is empty: there is no extreme",
                 axis, to_string(context.shape(0)));
  }
  if (context.attributes().get_int("keepdims", 1) != 0) {
    *at = 1;
  } else {
    shape.erase(at);
  }
  context.set_output(0, ElementType::Int64, std::move(shape));
  return {};
}

/// The first of equal extremes, or the last with select_last_index. NaN is more extreme than every
/// number, as in NumPy. Order: outer, inner, then along the axis.
template <bool kLargest>
Status evaluate_arg_max(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  const bool last = context.attributes().get_int("select_last_index", 0) != 0;
  HET_ASSIGN(const AxisSplit split, axis_split(x.shape(), context.attributes().get_int("axis", 0)));
  if (x.element_count() == 0) return {};
  int64_t* dst = context.output(0).data<int64_t>();
  return dispatch_numeric(x.type(), [&]<class T>() -> Status {
    using Arithmetic = ArithmeticType<T>;
    for (int64_t outer = 0; outer < split.outer; ++outer) {
      for (int64_t inner = 0; inner < split.inner; ++inner) {
        const T* src = x.data<T>() + outer * split.length * split.inner + inner;
        auto best = static_cast<Arithmetic>(src[0]);
        int64_t best_index = 0;
        for (int64_t i = 1; i < split.length; ++i) {
          const auto value = static_cast<Arithmetic>(src[i * split.inner]);
          const bool best_is_nan = best != best;
          const bool is_nan = value != value;
          const bool better = !best_is_nan && (is_nan || (kLargest ? value > best : value < best));
          const bool equal = value == best || (is_nan && best_is_nan);
          if (better || (last && equal)) {
            best = value;
            best_index = i;
          }
        }
        *dst++ = best_index;
      }
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_arg_max(OpRegistry& registry) {
  registry.add({"ArgMax", "", 13, 1, 1, infer_arg_max, evaluate_arg_max<true>});
  registry.add({"ArgMin", "", 13, 1, 1, infer_arg_max, evaluate_arg_max<false>});
}

}  // namespace het
