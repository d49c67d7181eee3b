#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "inference/zones/configuration.h"

namespace het::zones {

/// Where an object was seen, in quarters of a pixel, so that everything can be decided exactly.
struct Sighting {
  int64_t time_ns = 0;
  int64_t x = 0;
  int64_t y = 0;
  bool after_miss = false;  ///< a frame that was analysed since the sighting before had it not
};

inline constexpr int64_t kQuarters = 4;

/// What an object did, by brute force over its whole way: visits of zones as begin and end, and the
/// directions of its crossings of lines.
struct ReferenceWay {
  struct Visit {
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
    bool operator==(const Visit&) const = default;
  };
  std::vector<std::vector<Visit>>
      visits;  ///< by zone; of those that have not ended, the last sighting in it
  std::vector<std::vector<int>> crossings;  ///< by tripwire
};

/// Zones and lines have whole quarters of pixels; `hysteresis` and `grace_ns` are of all.
ReferenceWay reference_way(const Configuration& configuration, int64_t hysteresis_quarters,
                           int64_t grace_ns, const std::vector<Sighting>& way);

/// Whether a point is in a polygon with its edges, by rays downwards; exact.
bool reference_contains(const std::vector<Point>& points, int64_t x, int64_t y);

}  // namespace het::zones
