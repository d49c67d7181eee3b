#pragma once

#include <cstddef>

#include "inference/tensors/element_type.h"

namespace het::cpu {

/// Conversions of narrow floats, vectorised for the processor they run on; rounding is to nearest,
/// halves to even.
void half_to_float_row(const Float16* src, size_t count, float* dst);
void float_to_half_row(const float* src, size_t count, Float16* dst);
void bfloat16_to_float_row(const BFloat16* src, size_t count, float* dst);
void float_to_bfloat16_row(const float* src, size_t count, BFloat16* dst);

/// Three planes to pixels: dst[3 i + c] = src[c * plane + i] for i < count.
void float_planes_to_bfloat16_pixels(const float* src, size_t plane, size_t count, BFloat16* dst);

}  // namespace het::cpu
