#pragma once

#include <cstdint>
#include <vector>

#include "inference/passes/fusions/fused_tail.h"

namespace het::cpu {

/// What is applied to a result before it is stored, in order.
struct PostOp {
  enum class Kind : uint8_t {
    Sum,     ///< + alpha * (what dst held before - beta)
    Relu,    ///< alpha: slope below 0
    Clip,    ///< to [alpha, beta]
    Linear,  ///< alpha * x + beta
    Sigmoid,
    Tanh,
    Swish,      ///< x * sigmoid(alpha * x)
    HardSwish,  ///< x * clip(x / 6 + 1 / 2, 0, 1)
    Elu,        ///< alpha
    GeluErf,
    GeluTanh,
    Exp,
    Abs,
    Sqrt,
    Square,
    SoftPlus,
    Mish,
    Round,
  };
  Kind kind = Kind::Relu;
  float alpha = 0.0f;
  float beta = 0.0f;
};

/// The same expression as post-ops of a oneDNN primitive; empty when there are none.
std::vector<PostOp> post_ops_of(const ElementwiseInstruction& instruction);
/// A whole tail; empty for an empty one.
std::vector<PostOp> post_ops_of(const FusedTail& tail);

/// True when oneDNN's code for them takes NaN and infinities as the definitions do: its activations
/// give a number for NaN, or other limits.
bool keep_non_finite(const std::vector<PostOp>& ops);

}  // namespace het::cpu
