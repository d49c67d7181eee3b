#pragma once

#include <cmath>
#include <cstddef>

namespace het::cpu {

/// What values are normalised by: (x - mean) * factor.
struct Normaliser {
  float mean;
  float factor;
};

/// In double, for squares beyond what floats hold and for infinities; `count` values `step` apart.
/// Without `centred` the mean counts as 0.
template <class T>
Normaliser wide_normaliser(const T* values, size_t count, size_t step, float epsilon,
                           bool centred) {
  double mean = 0.0;
  double squares = 0.0;
  for (size_t i = 0; centred && i < count; ++i) mean += static_cast<float>(values[i * step]);
  mean /= static_cast<double>(count);
  for (size_t i = 0; i < count; ++i) {
    const double distance = static_cast<float>(values[i * step]) - mean;
    squares += distance * distance;
  }
  const double variance = squares / static_cast<double>(count);
  return {static_cast<float>(mean), static_cast<float>(1.0 / std::sqrt(variance + epsilon))};
}

}  // namespace het::cpu
