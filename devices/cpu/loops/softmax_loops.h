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

}  // namespace het::cpu
