#pragma once

#include "devices/cpu/loops/elementwise_code.h"
#include "inference/passes/fusions/fused_tail.h"

namespace het::cpu {

/// A fused tail as kernels apply it that have their results in registers: a sum, limits, and what
/// is left for a pass over values that are still in the caches.
struct RegisterTail {
  bool has_sum = false;
  bool clip = false;
  float low = 0.0f;  ///< low <= 0 <= high, so that padded channels stay 0
  float high = 0.0f;
  ElementwiseCode rest;  ///< of one operand, behind the others
};

/// Of a tail whose sum, if it has one, comes first, as fusing leaves it.
RegisterTail make_register_tail(const FusedTail& tail);

}  // namespace het::cpu
