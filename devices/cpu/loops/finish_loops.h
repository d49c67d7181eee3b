#pragma once

#include <cstddef>

#include "devices/cpu/loops/byte_loops.h"
#include "inference/passes/fusions/elementwise_program.h"

namespace het::cpu {

/// Whether finish_rows() has this activation.
bool is_finished_activation(const ElementwiseInstruction& op);

/// dst = round(f(src) * inverse + zero), saturated, with the inverse and the zero point of each
/// channel; halves round to even. `src` is finite: rows of channels, `count` values in all.
/// `activation`: f; null for none.
void finish_rows(const ElementwiseInstruction* activation, const float* src,
                 const ChannelSteps& steps, size_t count, std::byte* dst);

}  // namespace het::cpu
