#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace het::metrics {

/// Upper bounds of the buckets, in seconds; one more has no bound.
inline constexpr std::array<double, 15> kHistogramBounds = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5};

/// Times by how long they are. Not thread-safe.
struct TimeHistogram {
  std::array<uint64_t, kHistogramBounds.size() + 1> counts = {};
  double sum = 0;

  void take(double seconds) {
    const auto bound = std::ranges::lower_bound(kHistogramBounds, seconds);
    ++counts[static_cast<size_t>(bound - kHistogramBounds.begin())];
    sum += seconds;
  }
};

}  // namespace het::metrics
