#include "tools/pareto.h"

#include <algorithm>
#include <numeric>

namespace het {

std::vector<size_t> pareto_front(const std::vector<LoadPoint>& points) {
  std::vector<size_t> order(points.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    if (points[a].latency_ms != points[b].latency_ms) {
      return points[a].latency_ms < points[b].latency_ms;
    }
    return points[a].throughput > points[b].throughput;
  });
  std::vector<size_t> front;
  for (const size_t i : order) {
    if (front.empty() || points[i].throughput > points[front.back()].throughput) front.push_back(i);
  }
  return front;
}

std::optional<size_t> knee_of(const std::vector<LoadPoint>& points,
                              const std::vector<size_t>& front) {
  if (front.size() < 3) return std::nullopt;
  const LoadPoint& first = points[front.front()];
  const LoadPoint& last = points[front.back()];
  std::optional<size_t> knee;
  double largest = 0.0;
  for (const size_t i : front) {
    const double x =
        (points[i].latency_ms - first.latency_ms) / (last.latency_ms - first.latency_ms);
    const double y =
        (points[i].throughput - first.throughput) / (last.throughput - first.throughput);
    // Rounding errors are no bend.
    if (y - x <= std::max(largest, 1e-9)) continue;
    largest = y - x;
    knee = i;
  }
  return knee;
}

}  // namespace het
