#pragma once

#include "inference/passes/fusions/int8/int8_passes.h"

namespace het::cpu {

/// What the kernel of element-wise programs makes of each byte's values (RunOnBytes).
void run_on_bytes(const ElementwiseProgram& program, std::span<const ByteValues> operands,
                  ByteValues& result);

}  // namespace het::cpu
