#include <algorithm>

#include "inference/passes/fusions/channels/channel_affine.h"
#include "inference/passes/fusions/fused_tail.h"
#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/fusions/int8/int8_product.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

/// Products that can have a tail, as far as the model tells.
bool may_have_tail(const Node& node) {
  const std::string& type = node.op_type();
  if (is_int8_product(node)) return node.output()->desc().type == ElementType::Float32;
  const bool kind = type == "Conv" || type == "ConvTranspose" || type == "MatMul" || type == "Gemm";
  if (!kind || (!node.domain().empty() && node.domain() != "het") || is_detached(node))
    return false;
  const auto is_filled_float = [](const Value* v) {
    return v->desc().is_static() && v->desc().type == ElementType::Float32 &&
           element_count(v->desc().shape) > 0;
  };
  if (!is_filled_float(node.input(0)) || !is_filled_float(node.input(1)) ||
      !is_filled_float(node.output())) {
    return false;
  }
  const Value* bias = node.input(kTailBiasInput);
  if (type == "MatMul") return node.output()->desc().shape.size() >= 2;
  if (type == "Gemm") {
    const Attributes& a = node.attributes();
    const bool plain = a.get_float("alpha", 1.0f) == 1.0f && a.get_float("beta", 1.0f) == 1.0f;
    const bool row =
        bias == nullptr || (bias->is_constant() && !bias->desc().shape.empty() &&
                            bias->desc().shape.back() == node.output()->desc().shape.back() &&
                            bias->constant().element_count() == bias->desc().shape.back());
    return plain && row;
  }
  return node.input(1)->is_constant() && (bias == nullptr || bias->is_constant());
}

/// What the reader would be as steps of the tail, and the tensor that a sum adds.
struct Extension {
  FusedTail steps;
  Value* added = nullptr;
};

/// A chain in which every expression works on the result of the one before.
bool is_chain(const ElementwiseProgram& program) {
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const ElementwiseInstruction& instruction = program.instructions[i];
    if (is_binary(instruction.kind) || instruction.a != i) return false;
  }
  return program.operands == 1;
}

std::optional<Extension> extension_of(const Node& reader, const Value& out, bool may_sum) {
  const std::optional<ElementwiseNode> found = elementwise_of(reader);
  if (!found || reader.output()->desc().shape != out.desc().shape) return std::nullopt;
  if (is_chain(found->program)) {
    Extension extension;
    for (ElementwiseInstruction instruction : found->program.instructions) {
      instruction.a = 0;
      extension.steps.push_back({false, instruction});
    }
    return extension;
  }
  const ElementwiseInstruction& expression = found->program.instructions[0];
  if (found->program.instructions.size() != 1 || expression.kind != ElementwiseKind::Add ||
      !may_sum || found->operands.size() != 2) {
    return std::nullopt;
  }
  Value* other = found->operands[found->operands[0] == &out ? 1 : 0];
  if (other == &out || other->is_constant() || other->desc().shape != out.desc().shape) {
    return std::nullopt;
  }
  return Extension{{{true, {}}}, other};
}

/// Adds a step. False when the device cannot take it.
bool extend(FusedTail& tail, const TailStep& step, const TailRules& rules) {
  if (!step.sum && !tail.empty() && !tail.back().sum) {
    ElementwiseInstruction& last = tail.back().expression;
    const ElementwiseInstruction& next = step.expression;
    if (last.kind == ElementwiseKind::Linear && next.kind == ElementwiseKind::Linear) {
      last.alpha *= next.alpha;
      last.beta = last.beta * next.alpha + next.beta;
      return true;
    }
  }
  tail.push_back(step);
  return rules.takes == nullptr || rules.takes(tail);
}

bool ends_in_slopes(const Node& node) {
  return node.op_type() == "Conv" && node.input(kTailSlopesInput) != nullptr;
}

/// PRelu with a slope per channel behind a depthwise convolution. True when it was fused.
bool fuse_slopes(Model& model, Node& conv, Node& reader) {
  const Shape& shape = conv.output()->desc().shape;
  if (conv.op_type() != "Conv" || reader.op_type() != "PRelu" || !reader.domain().empty() ||
      shape.size() != 4 || reader.input(0) != conv.output() ||
      !tail_of(conv.attributes()).empty() || conv.attributes().get_int("group", 1) != shape[1] ||
      conv.input(0)->desc().shape[1] != shape[1]) {
    return false;
  }
  Value* slopes = reader.input(1);
  if (!per_channel(slopes, shape, 1) || slopes->constant().element_count() != shape[1]) {
    return false;
  }
  std::vector<Value*> inputs = conv.inputs();
  inputs.resize(kTailSlopesInput + 1, nullptr);
  inputs[kTailSlopesInput] = slopes;
  replace(model, {&conv, &reader, "Conv", "het", std::move(inputs), conv.attributes()});
  return true;
}

Status fuse_tails_of(Model& model, bool (*is_product)(const Node& node), bool sums,
                     const TailRules& rules) {
  // New nodes come last, so they are visited again and grow until nothing fits.
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    Node& node = *model.nodes()[k];
    if (is_detached(node) || !is_product(node)) continue;
    if (rules.takes_any != nullptr && !rules.takes_any(node)) continue;
    FusedTail tail = tail_of(node.attributes());
    Node* reader = only_reader(model, *node.output());
    if (tail.size() >= rules.most_steps || reader == nullptr || ends_in_slopes(node)) continue;
    if (rules.slopes && fuse_slopes(model, node, *reader)) continue;
    const bool has_sum =
        std::any_of(tail.begin(), tail.end(), [](const TailStep& step) { return step.sum; });
    const bool product = node.op_type() == "MatMul" || node.op_type() == "Gemm";
    const bool anywhere = product || !rules.convolutions_add_first;
    const bool may_sum = sums && (tail.empty() || (anywhere && !has_sum));
    const std::optional<Extension> extension = extension_of(*reader, *node.output(), may_sum);
    if (!extension) continue;
    const bool fits = std::all_of(extension->steps.begin(), extension->steps.end(),
                                  [&](const TailStep& step) { return extend(tail, step, rules); });
    if (!fits) continue;
    Attributes attributes = node.attributes();
    set_tail(attributes, tail);
    std::vector<Value*> inputs = node.inputs();
    if (extension->added != nullptr) {
      inputs.resize(std::max(inputs.size(), kTailSumInput + 1), nullptr);
      inputs[kTailSumInput] = extension->added;
    }
    replace_if(model, rules.can_run,
               {&node, reader, node.op_type(), "het", std::move(inputs), std::move(attributes)});
  }
  return {};
}

}  // namespace

Status fuse_tails(Model& model, const TailRules& rules) {
  return fuse_tails_of(model, may_have_tail, true, rules);
}

Status fuse_int8_activations(Model& model, const TailRules& rules) {
  const auto is_product = [](const Node& node) {
    return is_int8_product(node) && may_have_tail(node);
  };
  return fuse_tails_of(model, is_product, false, rules);
}

bool append_activation(FusedTail& tail, const Node& reader, const Value& out,
                       const TailRules& rules) {
  const std::optional<Extension> extension = extension_of(reader, out, false);
  return extension && std::ranges::all_of(extension->steps, [&](const TailStep& step) {
           return extend(tail, step, rules);
         });
}

}  // namespace het
