#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/model/model.h"

namespace het {

/// One scalar expression of a chain. Unary kinds ignore `b`.
enum class ElementwiseKind : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Max,
  Min,
  Pow,
  PRelu,   ///< a < 0 ? a * b : a
  Relu,    ///< x < 0 ? alpha * x : x
  Clip,    ///< to [alpha, beta]
  Linear,  ///< alpha * x + beta
  Sigmoid,
  Tanh,
  Swish,        ///< x * sigmoid(alpha * x)
  HardSigmoid,  ///< clip(alpha * x + beta, 0, 1)
  HardSwish,    ///< x * clip(x / 6 + 1 / 2, 0, 1)
  Elu,          ///< x < 0 ? alpha * (exp(x) - 1) : x
  GeluErf,
  GeluTanh,
  Exp,
  Log,
  Sqrt,
  Reciprocal,
  Abs,
  Neg,
  Square,
  Floor,
  Ceil,
  Round,  ///< halves to even
  Erf,
  SoftPlus,
  Mish,
  ReplaceNaN,  ///< alpha for NaN
};

std::string_view to_string(ElementwiseKind kind);
std::optional<ElementwiseKind> elementwise_kind(std::string_view name);
bool is_binary(ElementwiseKind kind);

/// Registers are the operands first, then the results of the instructions, in order.
struct ElementwiseInstruction {
  ElementwiseKind kind = ElementwiseKind::Add;
  uint8_t a = 0;
  uint8_t b = 0;
  float alpha = 0.0f;
  float beta = 0.0f;
};

/// A chain of scalar expressions over broadcast float operands; the last result is stored.
struct ElementwiseProgram {
  size_t operands = 0;
  std::vector<ElementwiseInstruction> instructions;
};

inline constexpr size_t kMaxElementwiseRegisters = 24;

/// The program of one node of the model - an ONNX operator over float tensors or a fused
/// het.Elementwise - and which of the node's inputs are its operands. Nothing when the node is no
/// such operator, reads or writes other types, or has parameters that are no constants.
struct ElementwiseNode {
  ElementwiseProgram program;
  std::vector<Value*> operands;
};
std::optional<ElementwiseNode> elementwise_of(const Node& node);

/// The fused form in a model: instructions as text, e.g. "Mul 0 1", with their parameters.
Attributes to_attributes(const ElementwiseProgram& program);
/// Back, for so many operands. Nothing where the attributes are no program.
std::optional<ElementwiseProgram> elementwise_program(const Attributes& attributes,
                                                      size_t operands);

}  // namespace het
