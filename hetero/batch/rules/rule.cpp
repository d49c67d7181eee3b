#include "hetero/batch/rules/rule.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace het::hetero {
namespace {

using RuleTable = std::map<std::pair<std::string_view, std::string_view>, RuleRow>;

RuleTable rule_table(std::initializer_list<std::vector<RuleRow>> families) {
  RuleTable table;
  for (const auto& family : families) {
    for (const RuleRow& row : family) table.emplace(std::pair(row.domain, row.type), row);
  }
  return table;
}

}  // namespace

const Items& RuleContext::input(size_t index) const {
  static constexpr Items kShared;
  return index < inputs_.size() ? inputs_[index] : kShared;
}

const Tensor* RuleContext::constant(size_t index) const {
  const Value* const value = node_.input(index);
  return value != nullptr && value->is_constant() ? &value->constant() : nullptr;
}

size_t RuleContext::axis(std::string_view name, int64_t fallback, size_t rank) const {
  const int64_t value = get_int(name, fallback);
  return static_cast<size_t>(value < 0 ? value + static_cast<int64_t>(rank) : value);
}

Failure RuleContext::refuse(std::string_view why) const {
  return error(StatusCode::NotSupported,
               "node '{}' ({}) does not keep the items of a batch apart: {}", node_.name(),
               node_.qualified_type(), why);
}

Status RuleContext::need_shared(size_t index) const {
  if (input(index).is_shared()) return {};
  return refuse(fmt::format("its input {} '{}' is not the same for all items", index,
                            node_.input(index)->name()));
}

Status RuleContext::need_others_shared(std::initializer_list<size_t> inputs) const {
  for (size_t i = 0; i < input_count(); ++i) {
    if (std::ranges::find(inputs, i) == inputs.end()) HET_TRY(need_shared(i));
  }
  return {};
}

Status RuleContext::need_batched(size_t index) const {
  if (has_input(index) && input(index).is_batched()) return {};
  if (!has_input(index)) return refuse(fmt::format("it has no input {}", index));
  return refuse(fmt::format("its input {} '{}' has no batch dimension that is known", index,
                            node_.input(index)->name()));
}

Status RuleContext::need_apart(size_t index, size_t dim) const {
  if (!input(index).is_batched() || input(index).axis.dim != dim) return {};
  return refuse(fmt::format("it works along dimension {} of {}, across the items", dim,
                            to_string(shape(index))));
}

Status follow_dimension_0(RuleContext& context) {
  std::optional<BatchAxis> found;
  for (size_t i = 0; i < context.input_count(); ++i) {
    if (context.input(i).is_shared() || context.input(i).kind == ItemsKind::Sizes) continue;
    HET_TRY(context.need_batched(i));
    const BatchAxis axis = context.input(i).axis;
    if (axis.dim != 0) {
      return context.refuse(
          fmt::format("the items lie in dimension {} of its input {}, not in 0", axis.dim, i));
    }
    if (found && *found != axis) {
      return context.refuse("the items of its inputs lie in different places");
    }
    found = axis;
  }
  if (found) context.set_all(Items::batched(*found));
  return {};
}

const RuleRow* find_rule(std::string_view domain, std::string_view type, bool of_rows) {
  static const RuleTable kRules =
      rule_table({elementwise_rules(), movement_rules(), indexing_rules(), product_rules(),
                  reduction_rules(), picture_rules(), sequence_rules(), detection_rules()});
  static const RuleTable kRowRules = rule_table({row_rules()});
  const RuleTable& table = of_rows ? kRowRules : kRules;
  const auto row = table.find(std::pair(domain, type));
  return row != table.end() ? &row->second : nullptr;
}

}  // namespace het::hetero
