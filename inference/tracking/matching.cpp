#include "inference/tracking/matching.h"

#include <algorithm>

#include "inference/tracking/assignment.h"

namespace het::tracking {

void match(std::vector<Track*>& tracks, std::vector<size_t>& left,
           const std::vector<Observation>& observations, const PairCost& cost,
           std::vector<Track*>& owners, std::optional<float> leaving) {
  if (tracks.empty() || left.empty()) return;
  CostMatrix costs(tracks.size(), left.size());
  costs.leaving = leaving;
  for (size_t row = 0; row < tracks.size(); ++row) {
    for (size_t column = 0; column < left.size(); ++column)
      costs.at(row, column) = cost(*tracks[row], observations[left[column]]);
  }
  const std::vector<size_t> pairs = assign(costs);
  for (size_t row = 0; row < pairs.size(); ++row) {
    if (pairs[row] == kNoColumn) continue;
    const size_t seen = left[pairs[row]];
    tracks[row]->correct(observations[seen]);
    owners[seen] = tracks[row];
    tracks[row] = nullptr;
  }
  std::erase(tracks, nullptr);
  std::erase_if(left, [&](size_t seen) { return owners[seen] != nullptr; });
}

}  // namespace het::tracking
