#include "hetero/multi/service_times.h"

#include <algorithm>

namespace het::hetero {

void ServiceTimes::add(size_t others, Duration time) {
  Recent& recent = recent_[std::min(others, kMostOthers)];
  recent.times[recent.count++ % kSamples] = time;
  std::array<Duration, kSamples> sorted = recent.times;
  const size_t known = std::min(recent.count, kSamples);
  std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(known));
  recent.median = sorted[known / 2];
}

std::optional<ServiceTimes::Duration> ServiceTimes::expected(size_t others) const {
  const Recent& recent = recent_[std::min(others, kMostOthers)];
  if (recent.count == 0) return std::nullopt;
  return recent.median;
}

}  // namespace het::hetero
