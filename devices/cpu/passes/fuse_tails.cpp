#include <algorithm>

#include "devices/cpu/fused_tail.h"
#include "devices/cpu/int8_product.h"
#include "devices/cpu/passes/channel_affine.h"
#include "devices/cpu/passes/int8_passes.h"
#include "devices/cpu/passes/passes.h"
#include "devices/cpu/passes/rewrite.h"
#include "inference/ops/conv_transpose.h"

namespace het::cpu {
namespace {

/// oneDNN's kernels take any number, but every step costs a pass over the registers.
constexpr size_t kMaxTail = 4;

/// oneDNN makes no deconvolution that adds positions behind what the kernels cover.
bool is_extended(const Node& node) {
  const auto conv =
      conv_transpose_attributes(node, node.input(0)->desc().shape, node.input(1)->desc().shape);
  return !conv || std::any_of(conv->pads_end.begin(), conv->pads_end.end(),
                              [](int64_t pad) { return pad < 0; });
}

/// Operators whose kernel takes a tail.
bool takes_tail(const Node& node) {
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
  if (type == "ConvTranspose" && is_extended(node)) return false;
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
      if (post_ops_of(instruction).empty()) return std::nullopt;
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

/// Adds a step. False when oneDNN cannot: its code generators keep one set of parameters per kind
/// of expression (seen with 2.6.3), so no kind may come twice.
bool extend(FusedTail& tail, const TailStep& step) {
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
  const std::vector<PostOp> ops = post_ops_of(tail);
  for (size_t i = 0; i < ops.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (ops[i].kind == ops[k].kind) return false;
    }
  }
  return true;
}

bool ends_in_slopes(const Node& node) {
  return node.op_type() == "Conv" && node.input(kTailSlopesInput) != nullptr;
}

/// PRelu with a slope per channel behind a depthwise convolution, for which there is a kernel of
/// our own. True when it was fused.
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

}  // namespace

namespace {

Status fuse_tails_of(Model& model, bool (*takes)(const Node& node), bool sums) {
  // New nodes come last, so they are visited again and grow until nothing fits.
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    Node& node = *model.nodes()[k];
    if (is_detached(node) || !takes(node)) continue;
    FusedTail tail = tail_of(node.attributes());
    Node* reader = only_reader(model, *node.output());
    if (tail.size() >= kMaxTail || reader == nullptr || ends_in_slopes(node)) continue;
    if (fuse_slopes(model, node, *reader)) continue;
    const bool has_sum =
        std::any_of(tail.begin(), tail.end(), [](const TailStep& step) { return step.sum; });
    // oneDNN's blocked convolutions add before anything else; with the sum further back only others
    // are left, whose formats cost reorders.
    const bool product = node.op_type() == "MatMul" || node.op_type() == "Gemm";
    const bool may_sum = sums && (tail.empty() || (product && !has_sum));
    const std::optional<Extension> extension = extension_of(*reader, *node.output(), may_sum);
    if (!extension) continue;
    const bool fits = std::all_of(extension->steps.begin(), extension->steps.end(),
                                  [&](const TailStep& step) { return extend(tail, step); });
    if (!fits) continue;
    Attributes attributes = node.attributes();
    set_tail(attributes, tail);
    std::vector<Value*> inputs = node.inputs();
    if (extension->added != nullptr) {
      inputs.resize(std::max(inputs.size(), kTailSumInput + 1), nullptr);
      inputs[kTailSumInput] = extension->added;
    }
    replace_if(model, is_int8_product(node) ? has_int8_kernel : nullptr,
               {&node, reader, node.op_type(), "het", std::move(inputs), std::move(attributes)});
  }
  return {};
}

}  // namespace

Status fuse_tails(Model& model) {
  return fuse_tails_of(model, takes_tail, true);
}

Status fuse_int8_activations(Model& model) {
  const auto takes = [](const Node& node) { return is_int8_product(node) && takes_tail(node); };
  return fuse_tails_of(model, takes, false);
}

bool append_activation(FusedTail& tail, const Node& reader, const Value& out) {
  const std::optional<Extension> extension = extension_of(reader, out, false);
  return extension && std::ranges::all_of(extension->steps,
                                          [&](const TailStep& step) { return extend(tail, step); });
}

}  // namespace het::cpu
