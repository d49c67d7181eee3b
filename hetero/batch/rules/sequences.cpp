#include "hetero/batch/rules/rule.h"

namespace het::hetero {
namespace {

/// Input `index`, where the node has it, has the items in this place.
Status need_at(const RuleContext& context, size_t index, const BatchAxis& axis) {
  if (!context.has_input(index)) return {};
  if (context.input(index).is_batched() && context.input(index).axis == axis) return {};
  return context.refuse(
      fmt::format("the items of its input {} do not lie in dimension {}", index, axis.dim));
}

/// X is [steps, batch, ...] or, with layout 1, [batch, steps, ...].
Status recurrence(RuleContext& context) {
  enum : size_t { kX, kLengths = 4, kState = 5, kCell = 6 };
  HET_TRY(context.need_batched(kX));
  HET_TRY(context.need_others_shared({kX, kLengths, kState, kCell}));
  const bool batch_first = context.get_int("layout", 0) != 0;
  const size_t steps = batch_first ? 1 : 0;
  BatchAxis axis = context.input(kX).axis;
  if (axis.dim == steps) {
    return context.refuse(fmt::format("it steps along dimension {}, from item to item", steps));
  }
  if (axis.dim != 1 - steps) return context.refuse("it sums over all items");
  HET_TRY(need_at(context, kLengths, {0, axis.outer, axis.inner}));
  HET_TRY(need_at(context, kState, axis));
  HET_TRY(need_at(context, kCell, axis));
  // Y_h and Y_c are [directions, batch, hidden], Y has the steps before or behind that.
  context.set_all(Items::batched(axis));
  if (!batch_first) context.set(0, Items::batched({2, axis.outer, axis.inner}));
  return {};
}

/// [steps, batch, classes] and [steps, batch] become [batch, steps, 1, 1].
Status ctc_greedy_decoder(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  BatchAxis axis = context.input(0).axis;
  if (axis.dim != 1) return context.refuse("the items do not lie in dimension 1 of its input 0");
  HET_TRY(need_at(context, 1, axis));
  axis.dim = 0;
  context.set(0, Items::batched(axis));
  return {};
}

Status items_first(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  return follow_dimension_0(context);
}

Status ctc_greedy_decoder_seq_len(RuleContext& context) {
  HET_TRY(context.need_batched(1));
  HET_TRY(context.need_others_shared({0, 1}));
  return items_first(context);
}

/// Steps lie in dimension 0, beams in the last one.
Status gather_tree(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  const BatchAxis axis = context.input(0).axis;
  if (axis.dim != 1) return context.refuse("the items do not lie in dimension 1 of its input 0");
  HET_TRY(need_at(context, 1, axis));
  HET_TRY(need_at(context, 2, {0, axis.outer, axis.inner}));
  HET_TRY(context.need_shared(3));
  context.set(0, Items::batched(axis));
  return {};
}

/// The last dimension holds real and imaginary part.
Status dft(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  HET_TRY(context.need_others_shared({0}));
  HET_TRY(context.need_apart(0, context.rank(0) - 1));
  int64_t axis = -2;
  if (context.has_input(2)) {
    if (context.constant(2) == nullptr) return context.refuse("its axis is not known");
    HET_ASSIGN(const std::vector<int64_t> values, to_int64_vector(*context.constant(2)));
    if (values.size() != 1) return context.refuse("its axis is not one number");
    axis = values[0];
  }
  if (axis < 0) axis += static_cast<int64_t>(context.rank(0));
  HET_TRY(context.need_apart(0, static_cast<size_t>(axis)));
  context.set(0, context.input(0));
  return {};
}

Status stft(RuleContext& context) {
  HET_TRY(context.need_others_shared({0}));
  return items_first(context);
}

Status tf_idf(RuleContext& context) {
  if (context.rank(0) < 2) return context.refuse("it counts over all items");
  return items_first(context);
}

Status has_body(RuleContext& context) {
  return context.refuse("what its body does with them is not followed");
}

Status has_state(RuleContext& context) {
  return context.refuse("its variable is one for all items");
}

}  // namespace

std::vector<RuleRow> sequence_rules() {
  return {
      {"RNN", "", recurrence},
      {"GRU", "", recurrence},
      {"LSTM", "", recurrence},
      {"CTCGreedyDecoder", "het", ctc_greedy_decoder},
      {"CTCGreedyDecoderSeqLen", "het", ctc_greedy_decoder_seq_len},
      {"GatherTree", "het", gather_tree},
      {"DFT", "", dft},
      {"STFT", "", stft},
      {"TfIdfVectorizer", "", tf_idf},
      {"If", "", has_body},
      {"Loop", "", has_body},
      {"Scan", "", has_body},
      {"ReadValue", "het", has_state},
      {"Assign", "het", has_state},
  };
}

}  // namespace het::hetero
