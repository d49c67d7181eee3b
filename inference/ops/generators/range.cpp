#include <cmath>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

constexpr TypeSet kRangeTypes = kFloatTypes | kIndexTypes | TypeSet{ElementType::Int16};

/// max(ceil((limit - start) / delta), 0) in double for floats, exactly for integers.
template <class T>
Result<int64_t> range_count(T start, T limit, T delta) {
  if (!(delta < T(0) || delta > T(0))) {
    return error(StatusCode::InvalidArgument, "delta is {}, the range would never end",
                 static_cast<double>(delta));
  }
  if constexpr (std::is_integral_v<T>) {
    if (delta > 0 ? limit <= start : limit >= start) return int64_t{0};
    // Differences of int64_t fit uint64_t.
    const auto from = static_cast<uint64_t>(static_cast<int64_t>(start));
    const auto to = static_cast<uint64_t>(static_cast<int64_t>(limit));
    const auto step = static_cast<uint64_t>(static_cast<int64_t>(delta));
    const uint64_t distance = delta > 0 ? to - from : from - to;
    const uint64_t stride = delta > 0 ? step : uint64_t{0} - step;
    const uint64_t count = (distance - 1) / stride + 1;
    if (count > static_cast<uint64_t>(INT64_MAX)) {
      return error(StatusCode::OutOfMemory, "a range of {} elements is too long", count);
    }
    return static_cast<int64_t>(count);
  } else {
    const double count = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) /
                                   static_cast<double>(delta));
    if (!(count < 0x1p62)) {
      return error(StatusCode::OutOfMemory, "a range from {} to {} by {} is too long",
                   static_cast<double>(start), static_cast<double>(limit),
                   static_cast<double>(delta));
    }
    return count > 0 ? static_cast<int64_t>(count) : int64_t{0};
  }
}

Status infer_range(InferContext& context) {
  constexpr std::string_view kNames[] = {"start", "limit", "delta"};
  bool known = true;
  for (size_t i = 0; i < 3; ++i) {
    HET_TRY(check_input(context, i, kNames[i], kRangeTypes));
    HET_TRY(check_same_type(context, 0, i));
    HET_ASSIGN(const int64_t count, checked_element_count(context.shape(i)));
    if (count != 1) {
      return error(StatusCode::ShapeMismatch, "input {} '{}' has shape {}, but must be a scalar", i,
                   kNames[i], to_string(context.shape(i)));
    }
    known = known && context.constant(i) != nullptr;
  }
  int64_t length = kUnknownDim;
  if (known) {
    HET_ASSIGN(length, dispatch_numeric(context.type(0), [&]<class T>() -> Result<int64_t> {
                 const auto value = [&](size_t i) {
                   return static_cast<ArithmeticType<T>>(context.constant(i)->data<T>()[0]);
                 };
                 return range_count(value(0), value(1), value(2));
               }));
  }
  context.set_output(0, context.type(0), {length});
  return {};
}

/// start + i * delta: floats in double and rounded once, integers wrap around.
Status evaluate_range(EvaluateContext& context) {
  Tensor& y = context.output(0);
  return dispatch_numeric(y.type(), [&]<class T>() -> Status {
    const std::span<T> dst = y.values<T>();
    const T start = context.input(0).data<T>()[0];
    const T delta = context.input(2).data<T>()[0];
    for (size_t i = 0; i < dst.size(); ++i) {
      if constexpr (std::is_integral_v<T>) {
        dst[i] = static_cast<T>(static_cast<uint64_t>(start) + i * static_cast<uint64_t>(delta));
      } else {
        dst[i] = numeric_cast<T>(static_cast<double>(start) +
                                 static_cast<double>(i) * static_cast<double>(delta));
      }
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_range(OpRegistry& registry) {
  registry.add({"Range", "", 27, 3, 3, infer_range, evaluate_range});
}

}  // namespace het
