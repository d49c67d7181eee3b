#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "inference/decoders/results.h"

namespace het {

inline constexpr size_t kPosePoints = 18;
inline constexpr size_t kPoseFields = 38;

/// One place of a heat map that may be a point of a body, in cells of the map.
struct PosePeak {
  float x = 0.0f;
  float y = 0.0f;
  float score = 0.0f;
};

/// The points of one body; `found` says which of `points` count.
struct Pose {
  std::array<PosePeak, kPosePoints> points{};
  std::array<bool, kPosePoints> found{};
};

/// Heat maps (18 or more, the first 18 count) and part affinity fields (38) of one picture, planes
/// of rows x columns values.
struct PoseMaps {
  std::span<const float> heat_maps;
  std::span<const float> fields;
  int rows = 0;
  int columns = 0;
};

/// The local maxima of a map above `threshold`, refined between cells by a parabola through the
/// neighbours; the strongest 64, in the order of the map.
std::vector<PosePeak> find_peaks(std::span<const float> map, int rows, int columns,
                                 float threshold);

/// Bodies by bottom-up grouping (Cao et al., "Realtime Multi-Person 2D Pose Estimation using Part
/// Affinity Fields", 2017): each pair of peaks that a limb could join is scored by the field along
/// it, the best pairs win, pairs that share a peak make a body. Bodies of fewer than 3 points or
/// with a mean score below 0.2 are dropped.
std::vector<Pose> group_poses(const PoseMaps& maps, float peak_threshold);

}  // namespace het
