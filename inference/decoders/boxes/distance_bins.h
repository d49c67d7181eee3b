#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace het {

inline constexpr int64_t kBoxSides = 4;  ///< left, top, right, bottom

/// Mean of the bin numbers under the softmax of their logits (Li et al., Generalized Focal Loss,
/// 2020): a distance in strides.
inline float expected_bin(const float* logits, int64_t bins) {
  const float largest = *std::max_element(logits, logits + bins);
  float sum = 0.0f;
  float weighted = 0.0f;
  for (int64_t i = 0; i < bins; ++i) {
    const float weight = std::exp(logits[i] - largest);
    sum += weight;
    weighted += weight * static_cast<float>(i);
  }
  return weighted / sum;
}

/// The distances of the four sides, whose logits follow each other, in pixels.
inline std::array<float, kBoxSides> expected_distances(const float* logits, int64_t bins,
                                                       float stride) {
  std::array<float, kBoxSides> sides{};
  for (size_t i = 0; i < sides.size(); ++i)
    sides[i] = expected_bin(logits + static_cast<int64_t>(i) * bins, bins) * stride;
  return sides;
}

}  // namespace het
