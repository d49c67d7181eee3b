#include <cmath>

#include "devices/cpu/elementwise_program.h"
#include "devices/cpu/passes/passes.h"
#include "devices/cpu/passes/rewrite.h"

namespace het::cpu {
namespace {

/// The node as one unary expression of its only operand.
struct Unary {
  ElementwiseInstruction expression;
  Value* operand = nullptr;
};
std::optional<Unary> unary_of(const Node* node) {
  if (node == nullptr || is_detached(*node)) return std::nullopt;
  const std::optional<ElementwiseNode> found = elementwise_of(*node);
  if (!found || found->program.operands != 1 || found->program.instructions.size() != 1 ||
      is_binary(found->program.instructions[0].kind)) {
    return std::nullopt;
  }
  return Unary{found->program.instructions[0], found->operands[0]};
}

bool near(float a, float b) {
  return std::abs(a - b) <= 1e-6f;
}

/// The constant divisor of a Div node by a scalar.
std::optional<float> divisor_of(const Node& node) {
  if (node.op_type() != "Div" || !node.domain().empty() || node.input(1) == nullptr ||
      !node.input(1)->is_constant() || node.input(1)->constant().element_count() != 1) {
    return std::nullopt;
  }
  const auto values = to_float_vector(node.input(1)->constant());
  return values ? std::optional<float>((*values)[0]) : std::nullopt;
}

/// The value before `node` when the node multiplies it by `factor`.
Value* scaled_by(const Model& model, const Node* node, float factor) {
  if (node == nullptr || only_reader(model, *node->output()) == nullptr) return nullptr;
  if (const auto divisor = divisor_of(*node)) {
    return near(1.0f / *divisor, factor) ? node->input(0) : nullptr;
  }
  const auto unary = unary_of(node);
  const bool scales = unary && unary->expression.kind == ElementwiseKind::Linear &&
                      unary->expression.beta == 0.0f && near(unary->expression.alpha, factor);
  return scales ? unary->operand : nullptr;
}

/// x when `value` is clip(x + 3, 0, 6) that nobody else reads.
Value* clipped_shift(const Model& model, const Value& value) {
  if (only_reader(model, value) == nullptr) return nullptr;
  const auto clip = unary_of(value.producer());
  if (!clip || clip->expression.kind != ElementwiseKind::Clip || clip->expression.alpha != 0.0f ||
      clip->expression.beta != 6.0f || only_reader(model, *clip->operand) == nullptr) {
    return nullptr;
  }
  const auto shift = unary_of(clip->operand->producer());
  const bool shifts = shift && shift->expression.kind == ElementwiseKind::Linear &&
                      shift->expression.alpha == 1.0f && shift->expression.beta == 3.0f;
  return shifts ? shift->operand : nullptr;
}

struct Gate {
  std::string op_type;
  Node* last = nullptr;  ///< the node whose output is the activation
};

/// The activation that `mul` ends, when its operands are x and a gate of x.
std::optional<Gate> gate_of(const Model& model, Node& mul, const Value& x, const Value& gate) {
  if (const auto unary = unary_of(gate.producer());
      unary && unary->operand == &x && only_reader(model, gate) != nullptr) {
    if (unary->expression.kind == ElementwiseKind::Sigmoid) return Gate{"Swish", &mul};
    if (unary->expression.kind == ElementwiseKind::HardSigmoid &&
        near(unary->expression.alpha, 1.0f / 6.0f) && unary->expression.beta == 0.5f) {
      return Gate{"HardSwish", &mul};
    }
  }
  // x * (clip(x + 3, 0, 6) / 6)
  const Value* clipped = scaled_by(model, gate.producer(), 1.0f / 6.0f);
  if (clipped != nullptr && clipped_shift(model, *clipped) == &x) return Gate{"HardSwish", &mul};
  // (x * clip(x + 3, 0, 6)) / 6
  if (clipped_shift(model, gate) == &x) {
    Node* after = only_reader(model, *mul.output());
    if (after == nullptr) return std::nullopt;
    const auto divisor = divisor_of(*after);
    const auto unary = unary_of(after);
    const bool by_six =
        (divisor && near(1.0f / *divisor, 1.0f / 6.0f) && after->input(0) == mul.output()) ||
        (unary && unary->expression.kind == ElementwiseKind::Linear &&
         unary->expression.beta == 0.0f && near(unary->expression.alpha, 1.0f / 6.0f));
    if (by_six) return Gate{"HardSwish", after};
  }
  return std::nullopt;
}

/// Everything between x and the activation's end.
void collect_names(const Value& value, const Value& x, Node& made) {
  if (&value == &x || value.producer() == nullptr) return;
  made.add_original_names(value.producer()->original_names());
  for (const Value* input : value.producer()->inputs()) {
    if (input != nullptr && !input->is_constant()) collect_names(*input, x, made);
  }
}

void detach_between(Model& model, Value& value, const Value& x) {
  Node* node = value.producer();
  if (&value == &x || node == nullptr || is_detached(*node)) return;
  const std::vector<Value*> inputs = node->inputs();
  detach(model, *node);
  for (Value* input : inputs) {
    if (input != nullptr && !input->is_constant()) detach_between(model, *input, x);
  }
}

}  // namespace

Status fuse_gated_activations(Model& model) {
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    Node& mul = *model.nodes()[k];
    if (mul.op_type() != "Mul" || !mul.domain().empty() || is_detached(mul) ||
        !elementwise_of(mul)) {
      continue;
    }
    for (const size_t side : {size_t{0}, size_t{1}}) {
      Value& x = *mul.input(side);
      Value& gate = *mul.input(1 - side);
      if (x.is_constant() || gate.is_constant() || x.desc().shape != gate.desc().shape) continue;
      const std::optional<Gate> found = gate_of(model, mul, x, gate);
      if (!found) continue;
      Node* made = replace(model, {&mul, found->last, found->op_type, "het", {&x}, {}});
      collect_names(gate, x, *made);
      detach_between(model, gate, x);
      break;
    }
  }
  return {};
}

}  // namespace het::cpu
