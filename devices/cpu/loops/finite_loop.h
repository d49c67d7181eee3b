#pragma once

#include <cstddef>
#include <cstdint>

namespace het::cpu {

/// True when none of the floats, given as their bits, is NaN or an infinity.
bool all_finite_float32(const uint32_t* bits, size_t count);
bool all_finite_float16(const uint16_t* bits, size_t count);
bool all_finite_bfloat16(const uint16_t* bits, size_t count);
bool all_finite_float64(const uint64_t* bits, size_t count);

}  // namespace het::cpu
