#pragma once

#include <cmath>
#include <cstddef>

namespace het::cpu {

/// What values are normalised by: (x - mean) * factor.
struct Normaliser {
  float mean;
  float factor;
};

/// In double, for squares beyond what floats hold and for infinities; of at(0), ... at(count - 1).
/// Without `centred` the mean counts as 0.
template <class At>
Normaliser wide_normaliser(const At& at, size_t count, float epsilon, bool centred) {
  double mean = 0.0;
  double squares = 0.0;
  for (size_t i = 0; centred && i < count; ++i) mean += static_cast<float>(at(i));
  mean /= static_cast<double>(count);
  for (size_t i = 0; i < count; ++i) {
    const double distance = static_cast<float>(at(i)) - mean;
    squares += distance * distance;
  }
  const double variance = squares / static_cast<double>(count);
  return {static_cast<float>(mean), static_cast<float>(1.0 / std::sqrt(variance + epsilon))};
}

}  // namespace het::cpu
