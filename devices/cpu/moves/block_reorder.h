#pragma once

#include <memory>

#include "devices/cpu/formats/kernel.h"
#include "devices/cpu/formats/tensor_spec.h"

namespace het::cpu {

/// Reorders between blocks of channels and pixels, in float32 and bfloat16 in any mix. Null for all
/// other reorders.
std::unique_ptr<Kernel> make_block_reorder(const TensorSpec& src, const TensorSpec& dst);

}  // namespace het::cpu
