#include "hetero/batch/rules/rule.h"

namespace het::hetero {
namespace {

/// Data that are the same for all may be looked up by the items' indices, and the items' data by
/// indices that are the same for all.
Status gather(RuleContext& context) {
  const size_t axis = context.axis("axis", 0, context.rank(0));
  if (context.input(0).is_shared()) {
    HET_TRY(context.need_batched(1));
    BatchAxis items = context.input(1).axis;
    items.dim += axis;
    context.set(0, Items::batched(items));
    return {};
  }
  HET_TRY(context.need_batched(0));
  HET_TRY(context.need_shared(1));
  HET_TRY(context.need_apart(0, axis));
  BatchAxis items = context.input(0).axis;
  if (items.dim > axis) items.dim = items.dim + context.rank(1) - 1;
  context.set(0, Items::batched(items));
  return {};
}

/// Indices, and what is stored by them, lie beside the data.
Status beside_data(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  HET_TRY(context.need_apart(0, context.axis("axis", 0, context.rank(0))));
  for (size_t i = 1; i < context.input_count(); ++i) {
    HET_TRY(context.need_batched(i));
    if (context.input(i).axis != context.input(0).axis ||
        context.shape(i)[context.input(i).axis.dim] !=
            context.shape(0)[context.input(0).axis.dim]) {
      return context.refuse("its indices do not lie beside the items of its data");
    }
  }
  context.set(0, context.input(0));
  return {};
}

Status gather_nd(RuleContext& context) {
  const auto batch_dims = static_cast<size_t>(context.get_int("batch_dims", 0));
  const size_t index_rank = context.rank(1);
  const auto depth = static_cast<size_t>(context.shape(1).back());
  if (context.input(1).is_batched()) {
    const BatchAxis axis = context.input(1).axis;
    if (axis.dim + 1 == index_rank) return context.refuse("an index has parts of several items");
    const bool is_beside = axis.dim < batch_dims;
    if (is_beside ? !context.input(0).is_batched() || context.input(0).axis != axis
                  : !context.input(0).is_shared()) {
      return context.refuse("its indices do not lie beside the items of its data");
    }
    context.set(0, context.input(1));
    return {};
  }
  HET_TRY(context.need_batched(0));
  HET_TRY(context.need_shared(1));
  BatchAxis axis = context.input(0).axis;
  if (axis.dim < batch_dims + depth) {
    return context.refuse("its indices choose among the items, or are the same for all of them");
  }
  axis.dim = axis.dim - depth - batch_dims + index_rank - 1;
  context.set(0, Items::batched(axis));
  return {};
}

/// Indices that are the same for all say where parts of the items are stored.
Status scatter_nd(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  HET_TRY(context.need_shared(1));
  const auto depth = static_cast<size_t>(context.shape(1).back());
  BatchAxis axis = context.input(0).axis;
  if (axis.dim < depth) return context.refuse("its indices choose among the items");
  axis.dim = axis.dim - depth + context.rank(1) - 1;
  if (!context.input(2).is_batched() || context.input(2).axis != axis) {
    return context.refuse("its updates do not lie beside the items of its data");
  }
  context.set(0, context.input(0));
  return {};
}

/// past_cache, update: [batch, ...]; write_indices: [batch].
Status tensor_scatter(RuleContext& context) {
  HET_TRY(context.need_apart(0, context.axis("axis", -2, context.rank(0))));
  for (size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has_input(i)) continue;
    HET_TRY(context.need_batched(i));
    if (context.input(i).axis.dim != 0 || context.input(i).axis != context.input(0).axis) {
      return context.refuse("its indices do not lie beside the items of its data");
    }
  }
  context.set(0, context.input(0));
  return {};
}

Status one_hot(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  HET_TRY(context.need_others_shared({0}));
  BatchAxis axis = context.input(0).axis;
  if (axis.dim >= context.axis("axis", -1, context.rank(0) + 1)) ++axis.dim;
  context.set(0, Items::batched(axis));
  return {};
}

Status found_in_all(RuleContext& context) {
  return context.refuse("it lists what it finds in all items together");
}

}  // namespace

std::vector<RuleRow> indexing_rules() {
  return {
      {"Gather", "", gather},
      {"GatherElements", "", beside_data},
      {"ScatterElements", "", beside_data},
      {"Scatter", "", beside_data},
      {"GatherND", "", gather_nd},
      {"ScatterND", "", scatter_nd},
      {"TensorScatter", "", tensor_scatter},
      {"OneHot", "", one_hot},
      {"NonZero", "", found_in_all},
      {"Unique", "", found_in_all},
      {"Compress", "", found_in_all},
  };
}

}  // namespace het::hetero
