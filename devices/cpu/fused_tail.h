#pragma once

#include <vector>

#include "devices/cpu/elementwise_program.h"
#include "inference/attributes.h"

namespace het::cpu {

/// What a fused het.Conv, het.ConvTranspose or het.MatMul does to its result, in order. Such a node
/// has the inputs x, w, bias (may be omitted) and, with `sum`, the tensor that is added.
struct TailStep {
  bool sum = false;                   ///< adds input kTailSumInput
  ElementwiseInstruction expression;  ///< a unary expression otherwise
};
using FusedTail = std::vector<TailStep>;

inline constexpr size_t kTailBiasInput = 2;
inline constexpr size_t kTailSumInput = 3;
/// Of a depthwise het.Conv: slopes of a PRelu behind the tail, one per channel; may be omitted.
inline constexpr size_t kTailSlopesInput = 4;

/// Attributes "tail" (names), "tail_alphas", "tail_betas"; absent for an empty tail.
FusedTail tail_of(const Attributes& attributes);
void set_tail(Attributes& attributes, const FusedTail& tail);

/// The same for oneDNN; empty result for an empty tail.
std::vector<PostOp> post_ops_of(const FusedTail& tail);

/// Appends what `reader` does to `out`. False when it is no activation or when oneDNN cannot take
/// it; `tail` may have changed then.
bool append_activation(FusedTail& tail, const Node& reader, const Value& out);

}  // namespace het::cpu
