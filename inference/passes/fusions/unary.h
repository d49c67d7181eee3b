#pragma once

#include <optional>

#include "inference/model/model.h"
#include "inference/passes/fusions/elementwise_program.h"

namespace het {

/// The node as one unary expression of its only operand; constants are in the expression.
struct Unary {
  ElementwiseInstruction expression;
  Value* operand = nullptr;
};
/// Empty for nodes that are no such thing, are detached or null.
std::optional<Unary> unary_of(const Node* node);

/// True when the expression is x * alpha + beta with these numbers.
bool is_linear(const std::optional<Unary>& unary, float alpha, float beta);

/// Equal but for the last digits, in which exporters differ.
bool near(float a, float b);

/// The value before `node` when the node multiplies it by `factor` (or divides) and one node reads
/// the product.
Value* scaled_by(const Model& model, const Node* node, float factor);

/// The constant divisor of a Div node by a scalar.
std::optional<float> divisor_of(const Node& node);

/// The operand of a node that multiplies or divides it by a number.
struct ScaledOperand {
  Value* value = nullptr;
  float factor = 1.0f;
};
/// Empty for other nodes, detached ones and null.
std::optional<ScaledOperand> scaled_operand(const Node* node);

}  // namespace het
