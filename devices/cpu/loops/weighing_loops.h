#pragma once

#include <cstddef>
#include <cstdint>

#include "inference/tensors/element_type.h"

namespace het::cpu {

/// Weighted sums of rows and pixels, vectorised for the processor they run on, in float: sources
/// and results may be BFloat16.

/// dst[i] = sum over t < taps of weights[t] * rows[t][i].
void weigh_rows(const float* const* rows, const float* weights, size_t taps, size_t count,
                float* dst);
void weigh_rows(const BFloat16* const* rows, const float* weights, size_t taps, size_t count,
                float* dst);
void weigh_rows(const float* const* rows, const float* weights, size_t taps, size_t count,
                BFloat16* dst);

/// Pixel x of dst, `lanes` >= kFewestLanes values each, = sum over t < taps of
/// weights[x * taps + t] times pixel index[x * taps + t] of src.
inline constexpr size_t kFewestLanes = 8;
void weigh_pixels(const float* src, const int32_t* index, const float* weights, size_t taps,
                  size_t pixels, size_t lanes, float* dst);
void weigh_pixels(const BFloat16* src, const int32_t* index, const float* weights, size_t taps,
                  size_t pixels, size_t lanes, float* dst);
void weigh_pixels(const float* src, const int32_t* index, const float* weights, size_t taps,
                  size_t pixels, size_t lanes, BFloat16* dst);

/// The same for single floats, with index and weight of a tap at [t * pixels + x].
void weigh_gathered(const float* src, const int32_t* index, const float* weights, size_t taps,
                    size_t pixels, float* dst);

}  // namespace het::cpu
