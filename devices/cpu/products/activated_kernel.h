#pragma once

#include <memory>
#include <optional>

#include "devices/cpu/formats/kernel.h"
#include "devices/cpu/formats/tensor_spec.h"
#include "inference/passes/fusions/fused_tail.h"

namespace het::cpu {

/// The last step of a tail where it is an activation that oneDNN's code takes longer for
/// (is_slow_in_onednn()) than a pass of our own over dst. `pads`: dst may have padded channels,
/// which must stay 0.
std::optional<ElementwiseInstruction> slow_last_step(const FusedTail& tail, bool pads);

/// `inner`, whose output lies as `dst` says, and then the expression over what it wrote.
std::unique_ptr<Kernel> make_activated_kernel(std::unique_ptr<Kernel> inner,
                                              const ElementwiseInstruction& expression,
                                              const TensorSpec& dst);

}  // namespace het::cpu
