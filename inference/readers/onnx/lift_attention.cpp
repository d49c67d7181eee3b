#include <utility>

#include "inference/ops/onnx_type.h"
#include "inference/readers/onnx/lift_rules.h"

namespace het::onnx {
namespace {

/// What Attention of ONNX takes; the attributes of the pending node belong to it too.
struct AttentionInputs {
  Value* q = nullptr;
  Value* k = nullptr;
  Value* v = nullptr;
  Value* padding = nullptr;  ///< com.microsoft's mask of 0 and 1, or key lengths
  Value* bias = nullptr;     ///< added to the scores
  Value* past_key = nullptr;
  Value* past_value = nullptr;
};

/// Rank of a value, or -1 when it is not known here.
int64_t known_rank(const Value& value) {
  const bool known = (value.is_input() || value.is_constant()) && !value.desc().shape.empty();
  return known ? static_cast<int64_t>(value.desc().shape.size()) : -1;
}

/// The mask [batch, keys] or [batch, queries, keys] as what is added to the scores: 0 where it is
/// not 0, elsewhere mask_filter_value.
Value* additive_mask(LiftContext& context, Value* mask, int64_t rank, Value* like) {
  const float filter = context.attributes().get_float("mask_filter_value", -10000.0f);
  Attributes to_bool;
  to_bool.set("to", onnx_type_code(ElementType::Bool));
  Value* const allowed = context.insert("Cast", {mask}, std::move(to_bool));
  std::vector<int64_t> axes{1};
  if (rank == 2) axes.push_back(2);
  Value* const spread = context.insert("Unsqueeze", {allowed, context.constant("axes", axes)});
  return context.insert("Where", {spread, context.scalar_like("zero", 0.0f, like),
                                  context.scalar_like("filter", filter, like)});
}

/// Makes the pending node Attention of ONNX.
void become_attention(LiftContext& context, const AttentionInputs& from, Value* like) {
  const Attributes& old = context.attributes();
  Attributes attributes;
  const int64_t heads = old.get_int("num_heads", 0);
  attributes.set("q_num_heads", heads);
  attributes.set("kv_num_heads", heads);
  const bool causal = old.get_int("unidirectional", 0) != 0;
  attributes.set("is_causal", int64_t{causal ? 1 : 0});
  if (const float scale = old.get_float("scale", 0.0f); scale != 0) attributes.set("scale", scale);
  Value* mask = from.bias;
  Value* lengths = nullptr;
  if (from.padding != nullptr) {
    const int64_t rank = known_rank(*from.padding);
    if (rank == 2 || rank == 3) {
      Value* const added = additive_mask(context, from.padding, rank, like);
      mask = mask == nullptr ? added : context.insert("Add", {added, mask});
    } else if (rank == 1 && !causal && from.past_key == nullptr) {
      Attributes to_int64;
      to_int64.set("to", onnx_type_code(ElementType::Int64));
      lengths = context.insert("Cast", {from.padding}, std::move(to_int64));
    } else {
      return context.refuse(
          fmt::format("the mask of {} must be an input or a constant of rank 2 or 3, or of rank 1 "
                      "without unidirectional",
                      context.node().op_type));
    }
  }
  context.become("Attention",
                 {from.q, from.k, from.v, mask, from.past_key, from.past_value, lengths},
                 std::move(attributes));
}

/// The three parts of x, side by side in its last dimension; `sizes` empty: equal ones.
std::vector<Value*> split_in_three(LiftContext& context, Value* x,
                                   const std::vector<int64_t>& sizes) {
  Attributes attributes;
  attributes.set("axis", int64_t{-1});
  std::vector<Value*> inputs{x};
  if (sizes.empty()) {
    attributes.set("num_outputs", int64_t{3});
  } else {
    inputs.push_back(context.constant("sizes", sizes));
  }
  return context.insert_parts("Split", std::move(inputs), 3, std::move(attributes));
}

}  // namespace

/// query, key, value, bias, key_padding_mask, attention_bias, past_key, past_value.
void lift_multi_head_attention(LiftContext& context) {
  const PendingNode& node = context.node();
  AttentionInputs inputs{node.input(0), node.input(1), node.input(2), node.input(4),
                         node.input(5), node.input(6), node.input(7)};
  if (inputs.q == nullptr || inputs.k == nullptr || inputs.v == nullptr ||
      node.input(8) != nullptr || node.input(9) != nullptr) {
    return context.refuse(
        "MultiHeadAttention with packed or missing keys and values, or with a shared cache, is not "
        "supported");
  }
  context.drop_outputs(3, "the output qk of MultiHeadAttention is not supported");
  if (!node.unsupported_reason.empty()) return;
  Value* const like = inputs.q;
  if (node.input(3) != nullptr) {
    const std::vector<Value*> parts = split_in_three(context, node.input(3), {});
    inputs.q = context.insert("Add", {inputs.q, parts[0]});
    inputs.k = context.insert("Add", {inputs.k, parts[1]});
    inputs.v = context.insert("Add", {inputs.v, parts[2]});
  }
  become_attention(context, inputs, like);
}

/// Attention: input, weights, bias, mask_index, past, attention_bias. QAttention: input, weight,
/// bias, input_scale, weight_scale, mask_index, input_zero_point, weight_zero_point, past.
void lift_attention_with_weights(LiftContext& context) {
  const PendingNode& node = context.node();
  const bool quantised = node.op_type == "QAttention";
  const Attributes& attributes = node.attributes;
  Value* const past = node.input(quantised ? 8 : 4);
  if (node.input(0) == nullptr || node.input(1) == nullptr || past != nullptr ||
      (quantised && (node.input(3) == nullptr || node.input(4) == nullptr)) ||
      attributes.get_int("do_rotary", 0) != 0 ||
      attributes.get_int("past_present_share_buffer", 0) != 0) {
    return context.refuse(fmt::format(
        "{} with a past, rotary embedding or missing inputs is not supported", node.op_type));
  }
  context.drop_outputs(1, "the present state of " + node.op_type + " is not supported");
  if (!node.unsupported_reason.empty()) return;
  Value* projected = quantised
                         ? scaled_product(context, {node.input(0), node.input(3), node.input(6)},
                                          {node.input(1), node.input(4), node.input(7)})
                         : context.insert("MatMul", {node.input(0), node.input(1)});
  if (node.input(2) != nullptr) projected = context.insert("Add", {projected, node.input(2)});
  const std::vector<Value*> parts =
      split_in_three(context, projected, attributes.get_ints("qkv_hidden_sizes"));
  AttentionInputs inputs{parts[0], parts[1], parts[2], node.input(quantised ? 5 : 3)};
  inputs.bias = quantised ? nullptr : node.input(5);
  become_attention(context, inputs, node.input(quantised ? 3 : 0));
}

}  // namespace het::onnx
