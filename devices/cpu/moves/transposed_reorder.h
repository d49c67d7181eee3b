#pragma once

#include <memory>

#include "devices/cpu/formats/kernel.h"
#include "devices/cpu/formats/tensor_spec.h"

namespace het::cpu {

/// Reorders between planes and pixels, in float32 and bfloat16 in any mix, and of bytes: matrices
/// are transposed in registers. Null for all other reorders, and for fewer than 16 planes or
/// pixels.
std::unique_ptr<Kernel> make_transposed_reorder(const TensorSpec& src, const TensorSpec& dst);

}  // namespace het::cpu
