#pragma once

#include <cstddef>
#include <cstdint>

namespace het::cpu {

/// Loops over rows of floats, vectorised for the processor they run on. Sums are taken in one fixed
/// order for a given instruction set, whatever thread runs them.

enum class Accumulation : uint8_t { Sum, SumSquare, SumAbs, Max, Min };

/// Sum, maximum ... of `count` >= 1 neighbouring values.
float reduce_row(Accumulation kind, const float* values, size_t count);

/// dst[i] = sum over t < taps of weights[t] * rows[t][i].
void weigh_rows(const float* const* rows, const float* weights, size_t taps, size_t count,
                float* dst);

/// Pixel x of dst, `lanes` >= kFewestLanes floats each, = sum over t < taps of
/// weights[x * taps + t] times pixel index[x * taps + t] of src.
inline constexpr size_t kFewestLanes = 8;
void weigh_pixels(const float* src, const int32_t* index, const float* weights, size_t taps,
                  size_t pixels, size_t lanes, float* dst);
/// The same for single floats, with index and weight of a tap at [t * pixels + x].
void weigh_gathered(const float* src, const int32_t* index, const float* weights, size_t taps,
                    size_t pixels, float* dst);

}  // namespace het::cpu
