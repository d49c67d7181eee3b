#pragma once

#include <cstddef>

namespace het::cpu {

/// The range of some values and zero, NaN left out.
struct ValueRange {
  float lowest = 0.0f;
  float highest = 0.0f;
  bool is_finite = true;  ///< no NaN and no infinity among them
};
ValueRange range_row(const float* values, size_t count);

}  // namespace het::cpu
