#include <algorithm>
#include <cstring>
#include <numeric>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/strided_copy.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Status infer_unique(InferContext& context) {
  HET_TRY(check_input(context, 0, "X", kNumbersAndBool));
  HET_TRY(check_attributes(context.attributes(),
                           {{"axis", AttributeType::Int}, {"sorted", AttributeType::Int}}));
  Shape shape{kUnknownDim};
  if (context.attributes().has("axis")) {
    HET_ASSIGN(const int64_t axis,
               normalize_axis(context.attributes().get_int("axis", 0), context.rank(0)));
    shape = context.shape(0);
    shape[static_cast<size_t>(axis)] = kUnknownDim;
  }
  context.set_output(0, context.type(0), std::move(shape));
  for (size_t i = 1; i < 4; ++i) context.set_output(i, ElementType::Int64, {kUnknownDim});
  return {};
}

/// -1, 0 or 1; NaN equals NaN and comes last.
template <class T>
int compare(T a, T b) {
  if (a < b) return -1;
  if (b < a) return 1;
  return static_cast<int>(a != a) - static_cast<int>(b != b);
}

/// Which items (rows of `length` elements) are equal: for every item the number of its group, in
/// the order of the result, and for every group its first item.
struct Groups {
  std::vector<size_t> of_item;
  std::vector<size_t> first;
};

template <class T>
Groups group_items(const T* values, size_t items, size_t length, bool sorted) {
  using A = ArithmeticType<T>;
  const auto compare_items = [&](size_t a, size_t b) {
    for (size_t i = 0; i < length; ++i) {
      const int order =
          compare(static_cast<A>(values[a * length + i]), static_cast<A>(values[b * length + i]));
      if (order != 0) return order;
    }
    return 0;
  };
  std::vector<size_t> order(items);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return compare_items(a, b) < 0; });
  Groups groups;
  groups.of_item.resize(items);
  for (size_t i = 0; i < items; ++i) {
    if (i == 0 || compare_items(order[i - 1], order[i]) != 0) groups.first.push_back(order[i]);
    groups.of_item[order[i]] = groups.first.size() - 1;
  }
  if (sorted) return groups;
  // Number the groups anew by their first items.
  std::vector<size_t> by_first(groups.first.size());
  std::iota(by_first.begin(), by_first.end(), size_t{0});
  std::sort(by_first.begin(), by_first.end(),
            [&](size_t a, size_t b) { return groups.first[a] < groups.first[b]; });
  std::vector<size_t> renumbered(by_first.size());
  for (size_t i = 0; i < by_first.size(); ++i) renumbered[by_first[i]] = i;
  for (size_t& group : groups.of_item) group = renumbered[group];
  std::sort(groups.first.begin(), groups.first.end());
  return groups;
}

Status write_indices(EvaluateContext& context, const Groups& groups) {
  const auto group_count = static_cast<int64_t>(groups.first.size());
  if (context.has_output(1)) {
    HET_TRY(context.allocate_output(1, ElementType::Int64, {group_count}));
    std::copy(groups.first.begin(), groups.first.end(), context.output(1).data<int64_t>());
  }
  if (context.has_output(2)) {
    HET_TRY(context.allocate_output(2, ElementType::Int64,
                                    {static_cast<int64_t>(groups.of_item.size())}));
    std::copy(groups.of_item.begin(), groups.of_item.end(), context.output(2).data<int64_t>());
  }
  if (context.has_output(3)) {
    HET_TRY(context.allocate_output(3, ElementType::Int64, {group_count}));
    const std::span<int64_t> counts = context.output(3).values<int64_t>();
    std::fill(counts.begin(), counts.end(), 0);
    for (const size_t group : groups.of_item) ++counts[group];
  }
  return {};
}

/// The axis is moved to the front, so that the items to compare are rows.
Status evaluate_unique(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  const bool flat = !context.attributes().has("axis");
  const Shape shape = flat ? Shape{x.element_count()} : x.shape();
  HET_ASSIGN(const int64_t axis, normalize_axis(flat ? 0 : context.attributes().get_int("axis", 0),
                                                static_cast<int64_t>(shape.size())));
  const auto d = static_cast<size_t>(axis);
  const size_t width = byte_width(x.type());
  const std::vector<int64_t> strides = row_major_strides(shape);
  const auto move_to_front = [d](std::vector<int64_t> values) {
    std::rotate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(d),
                values.begin() + static_cast<std::ptrdiff_t>(d) + 1);
    return values;
  };
  const Shape rows_shape = move_to_front(shape);
  HET_ASSIGN(const Tensor rows, Tensor::allocate({x.type(), rows_shape}));
  strided_copy(rows_shape, width, x.bytes(), move_to_front(strides), rows.bytes(),
               row_major_strides(rows_shape));

  const auto items = static_cast<size_t>(shape[d]);
  const std::span<const int64_t> item_dims = rows_shape;
  const auto length = static_cast<size_t>(element_count(item_dims.subspan(1)));
  const bool sorted = context.attributes().get_int("sorted", 1) != 0;
  Groups groups;
  HET_TRY(dispatch_numeric_or_bool(x.type(), [&]<class T>() -> Status {
    groups = group_items(rows.data<T>(), items, length, sorted);
    return {};
  }));

  Shape result = shape;
  result[d] = static_cast<int64_t>(groups.first.size());
  HET_TRY(context.allocate_output(0, x.type(), result));
  Tensor& y = context.output(0);
  const std::vector<int64_t> y_strides = row_major_strides(result);
  Shape slice = result;
  slice[d] = 1;
  for (size_t group = 0; group < groups.first.size(); ++group) {
    const auto from = static_cast<size_t>(strides[d]) * groups.first[group] * width;
    const auto to = static_cast<size_t>(y_strides[d]) * group * width;
    strided_copy(slice, width, x.bytes() + from, strides, y.bytes() + to, y_strides);
  }
  return write_indices(context, groups);
}

}  // namespace

HET_REGISTRATION void register_unique(OpRegistry& registry) {
  registry.add({"Unique", "", 28, 1, 1, infer_unique, evaluate_unique});
}

}  // namespace het
