#include "inference/passes/fusions/unary.h"

#include <cmath>

#include "inference/passes/fusions/rewrite.h"

namespace het {

std::optional<Unary> unary_of(const Node* node) {
  if (node == nullptr || is_detached(*node)) return std::nullopt;
  const std::optional<ElementwiseNode> found = elementwise_of(*node);
  if (!found || found->program.operands != 1 || found->program.instructions.size() != 1 ||
      is_binary(found->program.instructions[0].kind)) {
    return std::nullopt;
  }
  return Unary{found->program.instructions[0], found->operands[0]};
}

bool is_linear(const std::optional<Unary>& unary, float alpha, float beta) {
  return unary && unary->expression.kind == ElementwiseKind::Linear &&
         near(unary->expression.alpha, alpha) && near(unary->expression.beta, beta);
}

bool near(float a, float b) {
  return std::abs(a - b) <= 1e-6f;
}

std::optional<float> divisor_of(const Node& node) {
  if (node.op_type() != "Div" || !node.domain().empty() || node.input(1) == nullptr ||
      !node.input(1)->is_constant() || node.input(1)->constant().element_count() != 1) {
    return std::nullopt;
  }
  const auto values = to_float_vector(node.input(1)->constant());
  return values ? std::optional<float>((*values)[0]) : std::nullopt;
}

std::optional<ScaledOperand> scaled_operand(const Node* node) {
  if (node == nullptr || is_detached(*node)) return std::nullopt;
  if (const auto divisor = divisor_of(*node)) return ScaledOperand{node->input(0), 1.0f / *divisor};
  const auto unary = unary_of(node);
  if (!unary || unary->expression.kind != ElementwiseKind::Linear ||
      unary->expression.beta != 0.0f) {
    return std::nullopt;
  }
  return ScaledOperand{unary->operand, unary->expression.alpha};
}

Value* scaled_by(const Model& model, const Node* node, float factor) {
  if (node == nullptr || only_reader(model, *node->output()) == nullptr) return nullptr;
  const auto scaled = scaled_operand(node);
  return scaled && near(scaled->factor, factor) ? scaled->value : nullptr;
}

}  // namespace het
