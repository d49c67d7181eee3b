#include "inference/tracking/tracker.h"

#include <algorithm>
#include <array>
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

std::span<const TrackerName> tracker_names() {
  static constexpr std::array<TrackerName, 6> kNames = {{
      {"zero-term", TrackerType::Association,
       "Connects objects that are detected in every frame by where they are"},
      {"short-term-imageless", TrackerType::Prediction,
       "Connects objects by where they are, and fills frames in which none was detected"},
      {"zero-term-imageless", TrackerType::Association,
       "The same as zero-term, which does not look at pixels here either"},
      {"deep-sort", TrackerType::Reappearance,
       "Connects objects by the feature vectors that their regions carry, and place"},
      {"byte-track", TrackerType::ByteTrack,
       "Connects objects by where they are; what is detected with low confidence goes on with "
       "known objects, or is dropped"},
      {"oc-sort", TrackerType::OcSort,
       "The same, by direction, too, and with paths corrected when an object is found again"},
  }};
  return kNames;
}

Result<TrackerType> tracker_type(const std::string& name) {
  std::string known;
  for (const TrackerName& named : tracker_names()) {
    if (name == named.name) return named.type;
    known += (known.empty() ? "" : ", ") + std::string(named.name);
  }
  return error(StatusCode::InvalidArgument, "there is no tracking type '{}'; there are {}", name,
               known);
}

std::unique_ptr<Tracker> create_tracker(const TrackerSettings& settings) {
  switch (settings.type) {
    case TrackerType::Reappearance:
      return create_deep_sort_tracker(settings);
    case TrackerType::ByteTrack:
      return create_byte_tracker(settings);
    case TrackerType::OcSort:
      return create_oc_sort_tracker(settings);
    case TrackerType::Association:
    case TrackerType::Prediction:
      break;
  }
  return create_motion_tracker(settings);
}

}  // namespace het::tracking
