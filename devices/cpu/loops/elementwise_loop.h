#pragma once

#include <cstddef>
#include <cstdint>

#include "devices/cpu/loops/byte_loops.h"
#include "devices/cpu/loops/elementwise_code.h"
#include "inference/tensors/element_type.h"

namespace het::cpu {

/// Values after which a source that repeats starts again.
inline constexpr size_t kElementwisePeriod = 128;

/// Where an operand's values lie: float32, bfloat16, bytes or int32, dense, or kElementwisePeriod
/// of them that come again and again.
struct ElementwiseSource {
  const void* values = nullptr;
  ElementType type = ElementType::Float32;
  bool repeats = false;
  float scale = 1.0f;  ///< bytes stand for (byte - zero) * scale, int32 for itself
  float zero = 0.0f;
};

/// Runs the code over `count` values of its operands, in float32. `dst` may be the values of an
/// operand of its type. Vectorised for the instruction set of the processor it runs on; every count
/// gives the same value for the same operands, wherever a call begins.
void run_elementwise(const ElementwiseCode& code, const ElementwiseSource* sources, float* dst,
                     size_t count);
void run_elementwise(const ElementwiseCode& code, const ElementwiseSource* sources, BFloat16* dst,
                     size_t count);
/// The same, stored as bytes.
void run_elementwise(const ElementwiseCode& code, const ElementwiseSource* sources,
                     const ByteScale& scale, std::byte* dst, size_t count);

/// Runs the code over a row of floats in place, its only operand.
void run_elementwise_in_place(const ElementwiseCode& code, float* row, size_t count);

}  // namespace het::cpu
