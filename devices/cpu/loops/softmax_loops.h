#pragma once

#include <cstdint>

namespace het::cpu {

/// Up to how many values softmax_rows() takes.
inline constexpr int64_t kShortRow = 32;

/// Softmax, or its logarithm, of `columns` neighbouring columns of n >= 1 values each, `stride`
/// floats apart; `dst` may be `src`.
void softmax_columns(const float* src, int64_t n, int64_t stride, int64_t columns, bool logarithm,
                     float* dst);

/// The same for `rows` rows of n <= kShortRow values, one behind the other.
void softmax_rows(const float* src, int64_t n, int64_t rows, bool logarithm, float* dst);

/// The same for one row of any length.
void softmax_long_row(const float* src, int64_t n, bool logarithm, float* dst);

/// The same in place for one row of any length, of values * scale + mask: `mask_stride` is 1, or 0
/// for the same number for all; null for none. The result is multiplied by `factor`. False when all
/// that it came from was -infinity: then the row is NaN.
bool softmax_scores(float* values, int64_t n, float scale, float factor, const float* mask,
                    int64_t mask_stride);

}  // namespace het::cpu
