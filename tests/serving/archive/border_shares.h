#pragma once

#include <cstddef>
#include <vector>

#include "inference/tracking/tracker.h"

/// Ranges of a scene by real trackers: how many objects that cross a border keep their id.
namespace het::archive {

/// What a detector has seen in each frame.
struct Scene {
  double frames_per_s = 25;
  std::vector<std::vector<tracking::Observation>> frames;
};

struct Shares {
  size_t crossed = 0;
  size_t joined = 0;
  size_t told_crossed = 0;  ///< as the merge counts
  size_t told_joined = 0;
  bool is_same = true;  ///< all ids are those of one process
};

/// Of objects within 30 frames of the borders between ranges of this length, merged, beside one
/// process.
Shares shares_of(const Scene& scene, tracking::TrackerType type, double shard_s, double overlap_s);

double percent(size_t part, size_t all);

}  // namespace het::archive
