#include <algorithm>
#include <optional>

#include "hetero/batch/rules/rule.h"

namespace het::hetero {
namespace {

/// What the rules here do not know about rows.
Failure refuse_rows(const RuleContext& context) {
  return context.refuse(
      "it computes with rows that belong to several pictures, in a way that is not followed");
}

Result<std::optional<std::vector<int64_t>>> list(const RuleContext& context, size_t index) {
  if (!context.has_input(index)) return std::nullopt;
  const Tensor* const content = context.constant(index);
  if (content == nullptr || !context.input(index).is_shared()) return refuse_rows(context);
  HET_ASSIGN(std::vector<int64_t> values, to_int64_vector(*content));
  return values;
}

Status hand_on(RuleContext& context) {
  context.set(0, context.input(0));
  return {};
}

/// Numbers of pictures and rows stay exact in these types.
Status cast_rows(RuleContext& context) {
  const int64_t to = context.get_int("to", 0);
  enum : int64_t { kFloat32 = 1, kInt32 = 6, kInt64 = 7, kFloat64 = 11 };
  const bool is_exact = to == kFloat32 || to == kInt32 || to == kInt64 || to == kFloat64;
  if (!is_exact && context.input(0).kind != ItemsKind::RowValues) return refuse_rows(context);
  return hand_on(context);
}

/// Rows stay rows where the last dimension does.
Status reshape_rows(RuleContext& context) {
  const Shape& x = context.shape(0);
  const TensorDesc& y = context.node().output()->desc();
  if (context.input(0).kind != ItemsKind::FixedRows || !y.is_static() || y.shape.empty() ||
      y.shape.back() != x.back()) {
    return refuse_rows(context);
  }
  return hand_on(context);
}

/// Dimensions of 1 behind the first, which counts the rows.
Status unsqueeze_rows(RuleContext& context) {
  Items items = context.input(0);
  if (items.kind == ItemsKind::FixedRows) return reshape_rows(context);
  HET_ASSIGN(const auto axes, list(context, 1));
  if (items.kind != ItemsKind::RowValues || !axes ||
      !std::ranges::all_of(*axes, [](int64_t axis) { return axis >= 1; })) {
    return refuse_rows(context);
  }
  items.rank += axes->size();
  context.set(0, items);
  return {};
}

/// Selected boxes' scores and the like: looked up in the items' data by the picture's number.
Status look_up(RuleContext& context) {
  const Items& rows = context.input(1);
  const bool by_picture = rows.kind == ItemsKind::Rows && rows.columns > 0 &&
                          context.input(0).is_batched() && context.input(0).axis == BatchAxis() &&
                          context.get_int("batch_dims", 0) == 0 && context.rank(0) >= rows.columns;
  if (!by_picture) return refuse_rows(context);
  context.set(0, {.kind = ItemsKind::RowValues,
                  .table = rows.table,
                  .rank = 1 + context.rank(0) - rows.columns});
  return {};
}

/// All rows, ordered by a value of theirs: rows of one picture keep the order that they have among
/// themselves.
Status order_rows(RuleContext& context) {
  const Items& values = context.input(0);
  const Items& count = context.input(1);
  if (values.kind != ItemsKind::RowValues || values.rank != 1 ||
      count.kind != ItemsKind::RowCount || count.rank != 1 || count.table != values.table ||
      context.get_int("sorted", 1) == 0) {
    return refuse_rows(context);
  }
  const size_t table = context.new_table();
  context.set(0, {.kind = ItemsKind::RowValues, .table = table, .rank = 1});
  context.set(1, {.kind = ItemsKind::RowOrder, .table = values.table, .next_table = table});
  return {};
}

/// Columns of rows; the first of what is left has to be that of the picture, or none.
Status take_columns(RuleContext& context, const std::vector<int64_t>& columns, size_t rank) {
  Items items = context.input(0);
  const bool none = std::ranges::none_of(
      columns, [&](int64_t c) { return c == 0 || -c == static_cast<int64_t>(items.columns); });
  if (items.columns == 0 || columns.empty()) return refuse_rows(context);
  if (none) {
    context.set(0, {.kind = ItemsKind::RowValues, .table = items.table, .rank = rank});
    return {};
  }
  if (columns[0] != 0 || rank != 2 ||
      !std::all_of(columns.begin() + 1, columns.end(), [](int64_t c) { return c > 0; })) {
    return refuse_rows(context);
  }
  items.columns = columns.size();
  context.set(0, items);
  return {};
}

Status gather_rows(RuleContext& context) {
  Items items = context.input(0);
  const Items& order = context.input(1);
  const bool has_rows = items.kind == ItemsKind::Rows || items.kind == ItemsKind::RowValues;
  if (!has_rows) return refuse_rows(context);
  const int64_t axis = context.get_int("axis", 0);
  if (axis == 0 && order.kind == ItemsKind::RowOrder && order.table == items.table) {
    items.table = order.next_table;
    context.set(0, items);
    return {};
  }
  if (items.kind != ItemsKind::Rows || (axis != 1 && axis != -1)) return refuse_rows(context);
  HET_ASSIGN(const auto columns, list(context, 1));
  if (!columns || context.rank(1) > 1) return refuse_rows(context);
  return take_columns(context, *columns, 1 + context.rank(1));
}

Status slice_rows(RuleContext& context) {
  HET_ASSIGN(const auto starts, list(context, 1));
  HET_ASSIGN(const auto ends, list(context, 2));
  HET_ASSIGN(const auto axes, list(context, 3));
  HET_ASSIGN(const auto steps, list(context, 4));
  Items items = context.input(0);
  if (!starts || !ends || starts->size() != 1 || ends->size() != 1 || (axes && axes->size() != 1) ||
      (steps && *steps != std::vector<int64_t>{1})) {
    return refuse_rows(context);
  }
  const int64_t axis = axes ? (*axes)[0] : 0;
  if (items.kind == ItemsKind::RowCount) {
    if ((*starts)[0] != 0 || (*ends)[0] != 1 || axis != 0) return refuse_rows(context);
    items.rank = 1;
    context.set(0, items);
    return {};
  }
  if (items.kind != ItemsKind::Rows || axis != 1) return refuse_rows(context);
  const auto count = static_cast<int64_t>(items.columns);
  const auto column = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + count : at, 0, count);
  };
  std::vector<int64_t> columns;
  for (int64_t c = column((*starts)[0]); c < column((*ends)[0]); ++c) columns.push_back(c);
  return take_columns(context, columns, 2);
}

/// Columns beside each other: the picture's number first, values of the same rows behind it.
Status concat_rows(RuleContext& context) {
  Items items = context.input(0);
  bool fits = items.kind == ItemsKind::Rows && context.get_int("axis", 0) == 1;
  for (size_t i = 1; i < context.input_count(); ++i) {
    const Items& part = context.input(i);
    fits = fits && part.kind == ItemsKind::RowValues && part.table == items.table && part.rank == 2;
  }
  if (!fits) return refuse_rows(context);
  items.columns = 0;
  context.set(0, items);
  return {};
}

/// The number of rows, followed by the sizes of the other dimensions.
Status shape_of_rows(RuleContext& context) {
  const Items& items = context.input(0);
  const bool has_rows = items.kind == ItemsKind::Rows || items.kind == ItemsKind::RowValues;
  if (!has_rows || context.get_int("start", 0) != 0 || context.node().attributes().has("end")) {
    return refuse_rows(context);
  }
  context.set(0, {.kind = ItemsKind::RowCount, .table = items.table, .rank = items.rank});
  return {};
}

}  // namespace

std::vector<RuleRow> row_rules() {
  return {
      {"Identity", "", hand_on},     {"Cast", "", cast_rows},
      {"Reshape", "", reshape_rows}, {"Flatten", "", reshape_rows},
      {"Squeeze", "", reshape_rows}, {"Unsqueeze", "", unsqueeze_rows},
      {"GatherND", "", look_up},     {"TopK", "", order_rows},
      {"Gather", "", gather_rows},   {"Slice", "", slice_rows},
      {"Concat", "", concat_rows},   {"Shape", "", shape_of_rows},
  };
}

}  // namespace het::hetero
