#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace het {

/// A setting's latency (less is better) and throughput (more is better).
struct LoadPoint {
  double latency_ms = 0.0;
  double throughput = 0.0;
};

/// The points that no other one beats in both, by ascending latency. Of equal ones the first.
std::vector<size_t> pareto_front(const std::vector<LoadPoint>& points);

/// The point of a front from which on more throughput costs the most latency: the "knee" of
/// Satopaa, Albrecht, Irwin and Raghavan, "Finding a 'Kneedle' in a Haystack" (2011), section III:
/// both axes scaled to [0, 1] over the front, the knee has the largest throughput minus latency.
/// No smoothing and no threshold, as points are few. Nothing for a front that has less than three
/// points or does not bend upwards.
std::optional<size_t> knee_of(const std::vector<LoadPoint>& points,
                              const std::vector<size_t>& front);

}  // namespace het
