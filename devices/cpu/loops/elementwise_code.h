#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "inference/passes/fusions/elementwise_program.h"

namespace het::cpu {

/// One step of an accumulator, which is a few vectors wide.
struct ElementwiseStep {
  enum class Action : uint8_t {
    Load,  ///< takes the values of `source`
    Save,  ///< leaves a copy in `source`
    Add,   ///< with the values of `source`, as all up to PRelu
    Sub,
    Mul,
    Div,
    Max,
    Min,
    PRelu,
    Relu,
    LeakyRelu,
    Clip,
    Linear,
    HardSigmoid,
    HardSwish,
    Sigmoid,
    Swish,
    GeluErf,
    GeluTanh,
    Abs,
    Neg,
    Square,
    Round,
    ReplaceNaN,
    Sqrt,
    Function,  ///< `kind`; with the values of `source` where that has two
               ///< operands
  };
  Action action = Action::Load;
  ElementwiseKind kind = ElementwiseKind::Add;
  uint8_t source = 0;
  bool reversed = false;  ///< the values of `source` are the first operand
  float alpha = 0.0f;
  float beta = 0.0f;
};

/// A program for one accumulator: what an instruction computes stays there for the next one, which
/// most chains never leave. Sources are the operands, then the saved results.
struct ElementwiseCode {
  size_t operands = 0;
  size_t saved = 0;
  std::vector<ElementwiseStep> steps;
};

/// The code of a program with at least one instruction and at most kMaxElementwiseRegisters
/// registers. An empty program gives empty code.
ElementwiseCode make_elementwise_code(const ElementwiseProgram& program);

}  // namespace het::cpu
