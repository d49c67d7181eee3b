#pragma once

#include <vector>

#include "inference/model/attributes.h"
#include "inference/passes/fusions/elementwise_program.h"

namespace het {

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

/// What a device's products - Conv, ConvTranspose, MatMul, Gemm, and the int8 ones - can do behind
/// their sums. The defaults are those of kernels that compute any expression.
struct TailRules {
  size_t most_steps = 4;  ///< a tail of that many takes no further node
  /// A convolution adds another tensor before anything else; else it is added anywhere, once.
  bool convolutions_add_first = false;
  /// A depthwise convolution takes a PRelu with a slope per channel (input kTailSlopesInput).
  bool slopes = false;
  /// Whether kernels take a tail whose last step is new; null: any, of every unary expression.
  bool (*takes)(const FusedTail& tail) = nullptr;
  /// Whether the kernel of a product takes a tail at all; null: all do.
  bool (*takes_any)(const Node& product) = nullptr;
  /// Whether a kernel runs the fused node; null: any.
  bool (*can_run)(const Node& fused) = nullptr;
};

/// Appends what `reader` does to `out`. False when it is no activation or when the device cannot
/// take it; `tail` may have changed then.
bool append_activation(FusedTail& tail, const Node& reader, const Value& out,
                       const TailRules& rules);

}  // namespace het
