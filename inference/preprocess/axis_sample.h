#pragma once

#include <cmath>

namespace het::preprocess_internal {

/// The two source samples that one target position lies between, and the weight of the second.
struct AxisSample {
  int first = 0;
  int second = 0;
  float weight = 0.0f;
};

/// Bilinear sampling with pixel centres aligned, as OpenCV's INTER_LINEAR: the centre of target
/// pixel i is at (i + 0.5) * source_size / target_size - 0.5 of the source. The first and the last
/// sample are repeated beyond the ends.
inline AxisSample axis_sample(int index, int target_size, int source_size) {
  const double position = (index + 0.5) * source_size / target_size - 0.5;
  const int first = static_cast<int>(std::floor(position));
  if (first < 0) return {0, 0, 0.0f};
  if (first >= source_size - 1) return {source_size - 1, source_size - 1, 0.0f};
  return {first, first + 1, static_cast<float>(position - first)};
}

}  // namespace het::preprocess_internal
