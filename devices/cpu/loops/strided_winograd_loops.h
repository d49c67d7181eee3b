#pragma once

#include <cstdint>

#include "devices/cpu/loops/winograd_loops.h"

namespace het::cpu {

// What winograd_loops.h declares, for stride 2. In one dimension a result is
//   y[i] = (w0 x[2i] + w2 x[2i+2]) + w1 x[2i+1]:
// a convolution of two taps over the even values of the source, and one of a single tap over the
// odd ones. F(m, 2) has m + 1 points, of which one is infinity; a single tap has the m others.
// Products at the same point are added, whichever values they come from, so that a tile of m x m
// has (2m+1)^2 products of a pair of channels (direct: 9 m^2) and (m+1)^2 sums to transform back.
// The scales of the points are in A^T: the weights are w0 + a w2 at a point a, w2 at infinity, and
// w1 itself. So they are (m+2)^2 values of a pair of channels, used by up to m^2 points each.

void transform_strided_winograd_src(const WinogradShape& shape, const float* src, int64_t first,
                                    int64_t tiles, int64_t block_begin, int64_t block_end,
                                    float* transformed);
void multiply_strided_winograd_group(const WinogradShape& shape, const float* transformed,
                                     int64_t first, int64_t tiles, const float* packed,
                                     const float* bias, int64_t group, const WinogradTail& tail,
                                     float* products, float* dst);
void pack_strided_winograd_weights(const WinogradShape& shape, const float* weights, int64_t group,
                                   float* packed);

}  // namespace het::cpu
