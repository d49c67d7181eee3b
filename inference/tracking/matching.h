#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "inference/tracking/track.h"

namespace het::tracking {

/// The cost of a track and an observation being the same object; kForbidden: they are not.
using PairCost = std::function<float(const Track& track, const Observation& seen)>;

/// Pairs the tracks and observations that are left and takes the pairs out of both lists: the track
/// is corrected, `owners[observation]` becomes the track. As many pairs as possible are made, or,
/// with `leaving`, none whose cost is above what it costs to leave a track without one.
void match(std::vector<Track*>& tracks, std::vector<size_t>& left,
           const std::vector<Observation>& observations, const PairCost& cost,
           std::vector<Track*>& owners, std::optional<float> leaving = std::nullopt);

}  // namespace het::tracking
