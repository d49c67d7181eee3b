#include "inference/tracking/tracker.h"

#include <algorithm>
#include <numeric>

#include "inference/tracking/track.h"

namespace het::tracking {

std::vector<size_t> tracked_observations(const TrackerSettings& settings,
                                         const std::vector<Observation>& observations) {
  std::vector<size_t> chosen;
  for (size_t i = 0; i < observations.size(); ++i) {
    const Observation& seen = observations[i];
    if (is_valid(seen.box) &&
        (settings.object_class.empty() || settings.object_class == seen.label))
      chosen.push_back(i);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [&](size_t a, size_t b) {
    return observations[a].confidence > observations[b].confidence;
  });
  chosen.resize(std::min(chosen.size(), kMaxObjects));
  return chosen;
}

std::unique_ptr<Tracker> create_tracker(const TrackerSettings& settings) {
  return settings.type == TrackerType::Reappearance ? create_deep_sort_tracker(settings)
                                                    : create_motion_tracker(settings);
}

}  // namespace het::tracking
