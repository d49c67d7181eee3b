#pragma once

#include <cstddef>

#include "inference/tensors/element_type.h"

namespace het::cpu {

/// How rows are normalised by their own moments: (x - mean) / sqrt(variance + epsilon), times
/// scale, plus shift. Without `centred` the mean counts as 0 and the mean of the squares is the
/// variance.
struct RowNorm {
  size_t length = 0;
  float epsilon = 0.0f;
  bool centred = true;
  const float* scale = nullptr;  ///< of each value; none: 1
  const float* shift = nullptr;  ///< of each value; none: 0
};

/// Rows up to so long are summed in float.
constexpr size_t kMaxRowNormLength = 4096;

/// Normalises `rows` rows of at most kMaxRowNormLength values, several side by side, which lie one
/// behind the other. `from` and `to` are Float32 or BFloat16; src may be dst where they are equal.
/// A row's result does not depend on the other rows.
void normalise_rows(const RowNorm& norm, size_t rows, ElementType from, const std::byte* src,
                    ElementType to, std::byte* dst);

}  // namespace het::cpu
