#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "inference/passes/fusions/elementwise_program.h"

namespace het::cpu {

/// Values of a chunk: what one instruction computes before the next one starts, small enough for
/// all registers of a chain to stay in the first-level cache.
inline constexpr size_t kElementwiseChunk = 256;

/// Runs the program over `count` <= kElementwiseChunk values. `operands` are dense floats; `dst`
/// may be one of them. Vectorised for the instruction set of the processor it runs on; every count
/// gives the same value for the same operands, wherever a chunk begins.
void run_elementwise_chunk(const ElementwiseProgram& program, const float* const* operands,
                           float* dst, size_t count);

}  // namespace het::cpu
