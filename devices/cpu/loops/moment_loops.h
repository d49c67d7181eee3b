#pragma once

#include <cstddef>

#include "inference/tensors/element_type.h"

namespace het::cpu {

/// Loops of normalisations, vectorised for the processor they run on. Float sums are carried over
/// to double every 4096 values, so that large planes stay exact enough.

struct Moments {
  float mean = 0.0f;
  float variance = 0.0f;  ///< of the population
};

/// Of values in Float32 or BFloat16.
Moments row_moments(ElementType type, const std::byte* values, size_t count);

/// dst[i] = (src[i] - mean) * factor + shift. `from` and `to` are Float32 or BFloat16, here and
/// below; src may be dst where they are equal.
void normalise_plane(ElementType from, const std::byte* src, size_t count, float mean, float factor,
                     float shift, ElementType to, std::byte* dst);
/// dst[i] = (src[i] - mean) * factor * scale[i] + shift[i]; no `shift`: 0.
void normalise_row(ElementType from, const std::byte* src, size_t count, float mean, float factor,
                   const float* scale, const float* shift, ElementType to, std::byte* dst);

}  // namespace het::cpu
