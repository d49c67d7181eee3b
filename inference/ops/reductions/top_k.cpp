#include <algorithm>
#include <numeric>
#include <vector>

#include "inference/base/registration.h"
#include "inference/ops/axis_split.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Status infer_top_k(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"axis", AttributeType::Int},
                                                  {"largest", AttributeType::Int},
                                                  {"sorted", AttributeType::Int}}));
  HET_TRY(check_input(context, 0, "X", kNumbers));
  HET_ASSIGN(const int64_t axis,
             normalize_axis(context.attributes().get_int("axis", -1), context.rank(0)));
  HET_ASSIGN(const auto k, known_ints(context, 1, "K"));
  Shape shape = context.shape(0);
  int64_t& length = shape[static_cast<size_t>(axis)];
  if (k && (k->size() != 1 || k->front() < 0 || k->front() > length)) {
    return error(StatusCode::InvalidArgument,
                 "K is {}, but must be one value from 0 to {}, the size of axis {} of X {}",
                 to_string(*k), length, axis, to_string(context.shape(0)));
  }
  length = k ? k->front() : kUnknownDim;
  context.set_output(0, context.type(0), shape);
  context.set_output(1, ElementType::Int64, std::move(shape));
  return {};
}

/// True when `a` belongs before `b`. NaN is larger than every number and equal to itself.
template <class T>
bool comes_first(T a, T b, bool largest) {
  const bool a_is_nan = a != a;
  const bool b_is_nan = b != b;
  if (a_is_nan || b_is_nan) return largest ? a_is_nan && !b_is_nan : b_is_nan && !a_is_nan;
  return largest ? a > b : a < b;
}

/// Equal values keep the order of their indices. The result is sorted with `sorted` = 0 too. Order:
/// outer, inner, then along the axis.
Status evaluate_top_k(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  const bool largest = context.attributes().get_int("largest", 1) != 0;
  HET_ASSIGN(const AxisSplit split,
             axis_split(x.shape(), context.attributes().get_int("axis", -1)));
  HET_ASSIGN(const std::vector<int64_t> wanted, to_int64_vector(context.input(1)));
  const int64_t k = wanted.front();
  if (x.element_count() == 0) return {};
  std::vector<int64_t> order(static_cast<size_t>(split.length));
  return dispatch_numeric(x.type(), [&]<class T>() -> Status {
    T* values = context.output(0).data<T>();
    int64_t* indices = context.has_output(1) ? context.output(1).data<int64_t>() : nullptr;
    for (int64_t outer = 0; outer < split.outer; ++outer) {
      for (int64_t inner = 0; inner < split.inner; ++inner) {
        const T* src = x.data<T>() + outer * split.length * split.inner + inner;
        const auto value = [&](int64_t i) {
          return static_cast<ArithmeticType<T>>(src[i * split.inner]);
        };
        std::iota(order.begin(), order.end(), int64_t{0});
        std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
          if (comes_first(value(a), value(b), largest)) return true;
          return !comes_first(value(b), value(a), largest) && a < b;
        });
        for (int64_t i = 0; i < k; ++i) {
          const int64_t dst = (outer * k + i) * split.inner + inner;
          const int64_t from = order[static_cast<size_t>(i)];
          values[dst] = src[from * split.inner];
          if (indices != nullptr) indices[dst] = from;
        }
      }
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_top_k(OpRegistry& registry) {
  registry.add({"TopK", "", 24, 2, 2, infer_top_k, evaluate_top_k});
}

}  // namespace het
