#include "inference/ops/reductions/reduce.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/reductions/reduce_plan.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

struct ReduceRow {
  std::string_view type;
  ReduceKind kind;
  int since_version;
};

constexpr std::array kReduceRows{
    ReduceRow{"ReduceMean", ReduceKind::Mean, 18},
    ReduceRow{"ReduceSum", ReduceKind::Sum, 13},
    ReduceRow{"ReduceMax", ReduceKind::Max, 20},
    ReduceRow{"ReduceMin", ReduceKind::Min, 20},
    ReduceRow{"ReduceProd", ReduceKind::Prod, 18},
    ReduceRow{"ReduceL1", ReduceKind::L1, 18},
    ReduceRow{"ReduceL2", ReduceKind::L2, 18},
    ReduceRow{"ReduceLogSum", ReduceKind::LogSum, 18},
    ReduceRow{"ReduceLogSumExp", ReduceKind::LogSumExp, 18},
    ReduceRow{"ReduceSumSquare", ReduceKind::SumSquare, 18},
};

}  // namespace

std::optional<ReduceKind> reduce_kind(std::string_view op_type) {
  for (const ReduceRow& row : kReduceRows) {
    if (row.type == op_type) return row.kind;
  }
  return std::nullopt;
}

Result<ReduceAttributes> reduce_attributes(const Node& node, const Shape& x, const Tensor* axes) {
  HET_TRY(check_attributes(node.attributes(), {{"keepdims", AttributeType::Int},
                                               {"noop_with_empty_axes", AttributeType::Int}}));
  const auto kind = reduce_kind(node.op_type());
  if (!kind) {
    return error(StatusCode::InvalidArgument, "{} is not a reduction", node.op_type());
  }
  ReduceAttributes reduce;
  reduce.kind = *kind;
  reduce.keepdims = node.attributes().get_int("keepdims", 1) != 0;
  const auto rank = static_cast<int64_t>(x.size());
  if (axes != nullptr) {
    HET_ASSIGN(const std::vector<int64_t> wanted, to_int64_vector(*axes));
    HET_ASSIGN(reduce.axes, normalize_axes(wanted, rank));
    std::sort(reduce.axes.begin(), reduce.axes.end());
  }
  if (reduce.axes.empty() && node.attributes().get_int("noop_with_empty_axes", 0) == 0) {
    reduce.axes.resize(x.size());
    std::iota(reduce.axes.begin(), reduce.axes.end(), 0);
  }
  for (int64_t d = 0; d < rank; ++d) {
    const bool reduced = std::binary_search(reduce.axes.begin(), reduce.axes.end(), d);
    if (!reduced) reduce.output_shape.push_back(x[static_cast<size_t>(d)]);
    if (reduced && reduce.keepdims) reduce.output_shape.push_back(1);
  }
  return reduce;
}

ReducePlan plan_reduce(const Shape& x, const std::vector<int64_t>& axes) {
  const std::vector<int64_t> strides = row_major_strides(x);
  ReducePlan plan;
  for (size_t d = 0; d < x.size(); ++d) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) != axes.end();
    std::vector<int64_t>& offsets = reduced ? plan.inner : plan.outer;
    std::vector<int64_t> next;
    next.reserve(offsets.size() * static_cast<size_t>(x[d]));
    for (const int64_t offset : offsets) {
      for (int64_t i = 0; i < x[d]; ++i) next.push_back(offset + i * strides[d]);
    }
    offsets = std::move(next);
  }
  return plan;
}

namespace {

constexpr TypeSet kReduceTypes = kFloatTypes | TypeSet{ElementType::Int32, ElementType::UInt32,
                                                       ElementType::Int64, ElementType::UInt64};
constexpr TypeSet kOrderedTypes = kNumbersAndBool;

Status infer_reduce(InferContext& context) {
  const ReduceKind kind = *reduce_kind(context.node().op_type());
  const bool ordered = kind == ReduceKind::Max || kind == ReduceKind::Min;
  HET_TRY(check_input(context, 0, "data", ordered ? kOrderedTypes : kReduceTypes));
  HET_TRY(check_optional_input(context, 1, "axes", kIndexTypes));
  const Tensor* axes = context.constant(1);
  if (context.has_input(1) && axes == nullptr && context.shape(1) != Shape{0}) {
    int64_t rank = context.rank(0);
    if (context.attributes().get_int("keepdims", 1) == 0) rank -= element_count(context.shape(1));
    if (rank < 0) {
      return error(StatusCode::ShapeMismatch, "{} axes are given for data of shape {}",
                   element_count(context.shape(1)), to_string(context.shape(0)));
    }
    context.set_output(0, context.type(0), Shape(static_cast<size_t>(rank), kUnknownDim));
    return {};
  }
  HET_ASSIGN(ReduceAttributes reduce, reduce_attributes(context.node(), context.shape(0), axes));
  context.set_output(0, context.type(0), std::move(reduce.output_shape));
  return {};
}

/// The largest or smallest element; NaN wins. Of no elements: the other end of the type's range.
template <class T>
T reduce_extreme(bool largest, const T* src, int64_t start, const std::vector<int64_t>& inner) {
  using Arithmetic = ArithmeticType<T>;
  using Limits = std::numeric_limits<Arithmetic>;
  Arithmetic best = Limits::has_infinity ? Limits::infinity() : Limits::max();
  if (largest) best = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  for (const int64_t offset : inner) {
    const auto value = static_cast<Arithmetic>(src[start + offset]);
    if (largest ? value > best : value < best) best = value;
    if constexpr (std::is_floating_point_v<Arithmetic>) {
      if (std::isnan(value)) best = value;  // no later comparison with NaN is true
    }
  }
  return static_cast<T>(best);
}

double reduce_log_sum_exp(const std::vector<double>& values) {
  if (values.empty()) return -std::numeric_limits<double>::infinity();
  const double peak = *std::max_element(values.begin(), values.end());
  const double shift = std::isfinite(peak) ? peak : 0.0;
  double sum = 0;
  for (const double value : values) sum += std::exp(value - shift);
  return std::log(sum) + shift;
}

/// All floats are reduced in double.
double reduce_double(ReduceKind kind, const std::vector<double>& values) {
  double sum = kind == ReduceKind::Prod ? 1 : 0;
  for (const double value : values) {
    switch (kind) {
      case ReduceKind::Prod:
        sum *= value;
        break;
      case ReduceKind::L1:
        sum += std::fabs(value);
        break;
      case ReduceKind::L2:
      case ReduceKind::SumSquare:
        sum += value * value;
        break;
      default:
        sum += value;
        break;
    }
  }
  switch (kind) {
    case ReduceKind::Mean:
      return sum / static_cast<double>(values.size());
    case ReduceKind::L2:
      return std::sqrt(sum);
    case ReduceKind::LogSum:
      return std::log(sum);
    case ReduceKind::LogSumExp:
      return reduce_log_sum_exp(values);
    default:
      return sum;
  }
}

/// Integer sums and products wrap around; the mean is rounded towards zero, and so are the results
/// of the kinds with a root or a logarithm, which are computed in double.
template <class T>
T reduce_integer(ReduceKind kind, const T* src, int64_t start, const std::vector<int64_t>& inner) {
  uint64_t sum = kind == ReduceKind::Prod ? 1 : 0;
  for (const int64_t offset : inner) {
    const T value = src[start + offset];
    const auto bits = static_cast<uint64_t>(value);
    if (kind == ReduceKind::Prod) {
      sum *= bits;
    } else if (kind == ReduceKind::SumSquare) {
      sum += bits * bits;
    } else if (kind == ReduceKind::L1) {
      sum += value < T(0) ? 0 - bits : bits;
    } else {
      sum += bits;
    }
  }
  if (kind != ReduceKind::Mean) return static_cast<T>(sum);
  if (inner.empty()) return T(0);
  const auto count = static_cast<uint64_t>(inner.size());
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(static_cast<int64_t>(sum) / static_cast<int64_t>(count));
  }
  return static_cast<T>(sum / count);
}

template <class T>
T reduce_values(ReduceKind kind, const T* src, int64_t start, const std::vector<int64_t>& inner,
                std::vector<double>& values) {
  const bool needs_double = !std::is_integral_v<T> || kind == ReduceKind::L2 ||
                            kind == ReduceKind::LogSum || kind == ReduceKind::LogSumExp;
  if (needs_double) {
    std::transform(inner.begin(), inner.end(), values.begin(),
                   [&](int64_t offset) { return static_cast<double>(src[start + offset]); });
    return numeric_cast<T>(reduce_double(kind, values));
  }
  if constexpr (std::is_integral_v<T>) return reduce_integer<T>(kind, src, start, inner);
  return T(0);
}

Status evaluate_reduce(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  HET_ASSIGN(const ReduceAttributes reduce,
             reduce_attributes(context.node(), x.shape(),
                               context.has_input(1) ? &context.input(1) : nullptr));
  if (element_count(reduce.output_shape) == 0) return {};
  const ReducePlan plan = plan_reduce(x.shape(), reduce.axes);
  std::vector<double> values(plan.inner.size());
  Tensor& y = context.output(0);
  return dispatch_numeric_or_bool(x.type(), [&]<class T>() -> Status {
    const T* src = x.data<T>();
    T* dst = y.data<T>();
    for (const int64_t start : plan.outer) {
      if (reduce.kind == ReduceKind::Max || reduce.kind == ReduceKind::Min) {
        *dst++ = reduce_extreme<T>(reduce.kind == ReduceKind::Max, src, start, plan.inner);
      } else if constexpr (!std::is_same_v<T, bool>) {
        *dst++ = reduce_values<T>(reduce.kind, src, start, plan.inner, values);
      }
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_reduce(OpRegistry& registry) {
  for (const ReduceRow& row : kReduceRows) {
    registry.add({row.type, "", row.since_version, 1, 2, infer_reduce, evaluate_reduce});
  }
}

}  // namespace het
