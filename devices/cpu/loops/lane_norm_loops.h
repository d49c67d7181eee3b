#pragma once

#include <cstddef>

#include "inference/tensors/element_type.h"

namespace het::cpu {

/// Channels that lie side by side, in Float32 or BFloat16: `lanes` (8 or 16) of `count` pixels,
/// `step` values from one pixel to the next.
struct Lanes {
  ElementType type = ElementType::Float32;
  const std::byte* values = nullptr;
  size_t count = 0;
  size_t lanes = 0;
  size_t step = 0;
};

/// The sums of the channels' values; with `means`, of the squares of their distances from these.
/// Float sums are carried over to double every 1024 pixels.
void lane_sums(const Lanes& src, const float* means, double* sums);

/// dst = (src - mean) * factor + shift, which differ by channel; dst lies as src does and may be it
/// where the types are equal.
void normalise_lanes(const Lanes& src, const float* mean, const float* factor, const float* shift,
                     ElementType to, std::byte* dst);

}  // namespace het::cpu
