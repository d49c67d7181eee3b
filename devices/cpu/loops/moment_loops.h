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
inline Moments row_moments(const float* values, size_t count) {
  return row_moments(ElementType::Float32, reinterpret_cast<const std::byte*>(values), count);
}
/// The moments of `lanes` channels (8 or 16) that lie side by side, `count` values each, `step`
/// floats from one to the next.
void lane_moments(const float* values, size_t count, size_t lanes, size_t step, Moments* moments);

/// dst[i] = (src[i] - mean) * factor + shift
void normalise_row(const float* src, size_t count, float mean, float factor, float shift,
                   float* dst);
/// dst[i] = (src[i] - mean) * factor * scale[i] + shift[i]; no `shift`: 0. `from` and `to` are
/// Float32 or BFloat16.
void normalise_row(ElementType from, const std::byte* src, size_t count, float mean, float factor,
                   const float* scale, const float* shift, ElementType to, std::byte* dst);
/// The same for `lanes` channels side by side with one mean, factor and shift each.
void normalise_lanes(const float* src, size_t count, size_t lanes, size_t step, const float* mean,
                     const float* factor, const float* shift, float* dst);

}  // namespace het::cpu
