#include <algorithm>

#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/fusions/int8/int8_product.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/fusions/stored_value.h"

namespace het {
namespace {

/// The limits of what a stored value stands for, as a step of a tail.
TailStep limits_of(const StoredValue& value) {
  const float low = value.type() == ElementType::Int8 ? -128.0f : 0.0f;
  const float first = low - static_cast<float>(value.zero);
  return {false, {ElementwiseKind::Clip, 0, 0, first * value.scale, (first + 255) * value.scale}};
}

/// The nodes behind a product up to QuantizeLinear, which one kernel can do.
struct Chain {
  std::vector<Node*> nodes;
  FusedTail tail;
  StoredValue addend;
  StoredValue dst;
};

/// Another dequantised value that `add` adds to `value`.
std::optional<StoredValue> addend_of(const Node& add, const Value& value) {
  if (add.op_type() != "Add" || !add.domain().empty() || add.inputs().size() != 2) {
    return std::nullopt;
  }
  const Value* other = add.input(add.input(0) == &value ? 1 : 0);
  if (other == &value || other->is_constant() || other->desc() != value.desc() ||
      add.output()->desc() != value.desc()) {
    return std::nullopt;
  }
  std::optional<StoredValue> addend = stored_behind(*other);
  if (addend && addend->stored->is_constant()) addend.reset();
  return addend;
}

/// QuantizeLinear and DequantizeLinear behind `value` are rounding and limits.
const Value* skip_rounding(const Model& model, const Value* value, Chain& chain) {
  Node* quantise = only_reader(model, *value);
  const std::optional<StoredValue> stored = stored_by(quantise);
  if (!stored) return value;
  Node* dequantise = only_reader(model, *stored->stored);
  if (dequantise == nullptr) return value;
  const std::optional<StoredValue> back = stored_behind(*dequantise->output());
  if (!back || !same_steps(*stored, *back)) return value;
  chain.nodes.insert(chain.nodes.end(), {quantise, dequantise});
  const TailStep limits = limits_of(*stored);
  const ElementwiseInstruction* last =
      chain.tail.empty() || chain.tail.back().sum ? nullptr : &chain.tail.back().expression;
  // A Relu at the lower limit is part of it.
  if (last != nullptr && last->kind == ElementwiseKind::Relu && last->alpha == 0.0f &&
      limits.expression.alpha >= 0.0f) {
    chain.tail.pop_back();
  }
  chain.tail.push_back({false, {ElementwiseKind::Round, 0, 0, stored->scale}});
  chain.tail.push_back(limits);
  return dequantise->output();
}

std::optional<Chain> chain_behind(const Model& model, const Node& product, const TailRules& tails) {
  Chain chain;
  chain.tail = int8_product_of(product).tail;
  const Value* value = skip_rounding(model, product.output(), chain);
  Node* add = only_reader(model, *value);
  if (add == nullptr) return std::nullopt;
  const std::optional<StoredValue> addend = addend_of(*add, *value);
  if (!addend) return std::nullopt;
  chain.addend = *addend;
  chain.tail.push_back({true, {}});
  chain.nodes.push_back(add);
  for (;;) {
    Node* next = only_reader(model, *chain.nodes.back()->output());
    if (next == nullptr) return std::nullopt;
    if (const std::optional<StoredValue> dst = stored_by(next)) {
      if (dst->type() != addend->type()) return std::nullopt;
      chain.dst = *dst;
      chain.nodes.push_back(next);
      return chain;
    }
    if (!append_activation(chain.tail, *next, *next->input(0), tails)) return std::nullopt;
    chain.nodes.push_back(next);
  }
}

}  // namespace

Status fuse_int8_sums(Model& model, const Int8Rules& rules, const TailRules& tails) {
  if (rules.can_run == nullptr) return {};
  const size_t count = model.nodes().size();
  for (size_t k = 0; k < count; ++k) {
    Node& node = *model.nodes()[k];
    if (is_detached(node) || !is_unfinished_product(node)) continue;
    std::optional<Chain> chain = chain_behind(model, node, tails);
    if (!chain) continue;
    Int8Product product = int8_product_of(node);
    product.tail = std::move(chain->tail);
    product.sum_scale = chain->addend.scale;
    product.sum_zero = chain->addend.zero;
    product.dst_scales = {chain->dst.scale};
    product.dst_zero = chain->dst.zero;
    Attributes attributes = node.attributes();
    set_int8_product(attributes, product);
    std::vector<Value*> inputs = node.inputs();
    inputs[kTailSumInput] = chain->addend.stored;
    Node* made = replace_if(model, rules.can_run,
                            {&node, chain->nodes.back(), node.op_type(), "het", std::move(inputs),
                             std::move(attributes)});
    if (made == nullptr) continue;
    for (Node* passed : chain->nodes) {
      made->add_original_names(passed->original_names());
      detach(model, *passed);
    }
  }
  return {};
}

}  // namespace het
