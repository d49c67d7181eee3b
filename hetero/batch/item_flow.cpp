#include "hetero/batch/item_flow.h"

#include <algorithm>
#include <unordered_map>

#include "hetero/batch/constant_items.h"
#include "hetero/batch/rules/rule.h"

namespace het::hetero {
namespace {

Failure mixed_node(const Node& node, std::string_view why) {
  return error(StatusCode::NotSupported, "node '{}' ({}) {}", node.name(), node.qualified_type(),
               why);
}

class ItemFlow {
 public:
  ItemFlow(const Model& single, const Model& batched, size_t batch)
      : single_(single), batched_(batched), batch_(batch) {}

  Result<std::vector<OutputCut>> follow() {
    for (const ModelInput& input : batched_.inputs()) items_[input.value] = Items::batched({});
    for (const auto& node : batched_.nodes()) HET_TRY(follow_node(*node));
    std::vector<OutputCut> cuts;
    for (size_t i = 0; i < batched_.outputs().size(); ++i) {
      HET_ASSIGN(cuts.emplace_back(), cut(i));
    }
    return cuts;
  }

 private:
  const Value* single_value(const Value& value) const { return single_.find_value(value.name()); }

  Items items_of(const Value* value) {
    if (value == nullptr) return {};
    const auto [at, is_new] = items_.try_emplace(value);
    if (is_new && value->is_constant()) {
      const Value* const one = single_value(*value);
      at->second = constant_items(value->constant(),
                                  one && one->is_constant() ? &one->constant() : nullptr, batch_);
    }
    return at->second;
  }

  Status follow_node(const Node& node) {
    if (std::ranges::all_of(node.outputs(), [](const Value* y) { return y->is_constant(); })) {
      return {};
    }
    std::vector<Items> inputs;
    for (const Value* value : node.inputs()) inputs.push_back(items_of(value));
    const bool is_shared = std::ranges::all_of(inputs, &Items::is_shared);
    RuleContext context(node, std::move(inputs), batch_, tables_);
    if (!is_shared) HET_TRY(apply_rule(context));
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      const Value* const y = node.output(i);
      if (y->is_constant()) continue;
      HET_TRY(check_desc(node, *y, context.outputs()[i]));
      items_[y] = context.outputs()[i];
    }
    return {};
  }

  static Status apply_rule(RuleContext& context) {
    const Node& node = context.node();
    bool of_rows = false;
    for (size_t i = 0; i < context.input_count(); ++i) of_rows |= context.input(i).is_of_rows();
    const RuleRow* const row = find_rule(node.domain(), node.op_type(), of_rows);
    if (row == nullptr) {
      return context.refuse(of_rows ? "it computes with rows that belong to several pictures, in a "
                                      "way that is not followed"
                                    : "nothing is known about its operator");
    }
    for (size_t i = 0; i < context.input_count(); ++i) {
      const ItemsKind kind = context.input(i).kind;
      if (kind == ItemsKind::Places && (i >= 32 || (row->place_inputs >> i & 1) == 0)) {
        return context.refuse(fmt::format("its input {} '{}' counts elements of all items together",
                                          i, node.input(i)->name()));
      }
      if (kind == ItemsKind::Sizes && (i >= 32 || (row->size_inputs >> i & 1) == 0)) {
        return context.refuse(fmt::format("its input {} '{}' changes with the size of the batch", i,
                                          node.input(i)->name()));
      }
      if (!of_rows && node.input(i) != nullptr && !node.input(i)->desc().is_static()) {
        return context.refuse(
            fmt::format("its input {} '{}' is sized at run time", i, node.input(i)->name()));
      }
    }
    return row->rule(context);
  }

  /// What a rule says has to fit to the shapes, those of the model of one item too.
  Status check_desc(const Node& node, const Value& y, const Items& items) const {
    const TensorDesc& many = y.desc();
    if (items.is_of_rows() && items.kind != ItemsKind::FixedRows) return {};
    if (items.kind == ItemsKind::Places) return {};
    if (!many.is_static()) {
      if (items.is_shared()) return {};
      return mixed_node(node, "has a result that is sized at run time, by all items together");
    }
    TensorDesc wanted = many;
    if (items.is_batched()) {
      const BatchAxis& axis = items.axis;
      const auto count = static_cast<int64_t>(batch_);
      if (axis.dim >= many.shape.size() ||
          many.shape[axis.dim] != axis.outer * count * axis.inner) {
        return mixed_node(
            node, fmt::format("gives {}, which does not hold {} items", to_string(many), batch_));
      }
      wanted.shape[axis.dim] /= count;
    }
    const Value* const one = single_value(y);
    if (items.kind == ItemsKind::FixedRows || one == nullptr || !one->desc().is_static() ||
        one->desc() == wanted) {
      return {};
    }
    return mixed_node(node, fmt::format("computes items of a batch together: {} becomes {} with {} "
                                        "at the inputs",
                                        to_string(one->desc()), to_string(many), batch_));
  }

  Result<OutputCut> cut(size_t index) {
    const ModelOutput& output = batched_.outputs()[index];
    const TensorDesc& many = output.value->desc();
    const TensorDesc& one = single_.outputs()[index].value->desc();
    const Items items = items_of(output.value);
    switch (items.kind) {
      case ItemsKind::Batched:
        if (items.axis == BatchAxis()) return OutputCut();
        break;
      case ItemsKind::FixedRows:
        if (one.is_static() && one.type == many.type && one.shape.size() == many.shape.size() &&
            one.shape.back() == many.shape.back() &&
            element_count(one.shape) * static_cast<int64_t>(batch_) == element_count(many.shape)) {
          return OutputCut{items.kind, index};
        }
        break;
      case ItemsKind::Rows:
        return OutputCut{items.kind, index};
      case ItemsKind::RowValues:
        return numbered(index, items);
      case ItemsKind::RowCount:
        if (items.rank == 1) return numbered(index, items);
        break;
      case ItemsKind::Places:
        return error(StatusCode::NotSupported,
                     "output '{}' counts elements of all items of a batch together", output.name);
      default:
        break;
    }
    return error(StatusCode::NotSupported,
                 "output '{}' {} does not grow with the batch: with {} at the inputs it is {}",
                 output.name, to_string(one), batch_, to_string(many));
  }

  Result<OutputCut> numbered(size_t index, const Items& items) {
    for (size_t i = 0; i < batched_.outputs().size(); ++i) {
      const Items other = items_of(batched_.outputs()[i].value);
      if (other.kind == ItemsKind::Rows && other.table == items.table) {
        return OutputCut{items.kind, i};
      }
    }
    return error(StatusCode::NotSupported,
                 "output '{}' has rows of several pictures, and no other output says which row "
                 "belongs to which",
                 batched_.outputs()[index].name);
  }

  const Model& single_;
  const Model& batched_;
  const size_t batch_;
  size_t tables_ = 0;
  std::unordered_map<const Value*, Items> items_;
};

}  // namespace

Result<std::vector<OutputCut>> follow_items(const Model& single, const Model& batched,
                                            size_t batch) {
  return ItemFlow(single, batched, batch).follow();
}

}  // namespace het::hetero
