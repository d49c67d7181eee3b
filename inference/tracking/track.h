#pragma once

#include <algorithm>
#include <string>

#include "inference/tracking/box_filter.h"
#include "inference/tracking/feature_gallery.h"
#include "inference/tracking/tracker.h"

namespace het::tracking {

/// One object as a tracker remembers it.
struct Track {
  Track(const Observation& seen, size_t feature_budget, const BoxNoise& noise = {})
      : filter(seen.box, noise),
        label(seen.label),
        confidence(seen.confidence),
        label_id(seen.label_id),
        gallery(feature_budget) {
    gallery.add(seen.feature);
  }

  /// Seen again.
  void correct(const Observation& seen) {
    filter.correct(seen.box, seen.confidence);
    label = seen.label;
    confidence = seen.confidence;
    label_id = seen.label_id;
    gallery.add(seen.feature);
    ++observations;
    missing = 0;
  }

  int id = kNoId;
  BoxFilter filter;
  std::string label;
  float confidence;
  int label_id;
  FeatureGallery gallery;
  int observations = 1;
  int missing = 0;  ///< frames since it was seen
};

/// Where observation and track may be the same object at all.
inline bool may_match(const TrackerSettings& settings, const Track& track,
                      const Observation& seen) {
  return is_valid(seen.box) && (!settings.per_class || track.label == seen.label);
}

/// Indices of the observations that are tracked, the most confident first.
std::vector<size_t> tracked_observations(const TrackerSettings& settings,
                                         const std::vector<Observation>& observations);

/// The confidence from which an observation begins a track.
inline float new_threshold(const TrackerSettings& settings) {
  return settings.new_threshold.value_or(std::min(settings.track_threshold + 0.1f, 1.0f));
}

/// How many objects are tracked at most.
inline size_t object_limit(const TrackerSettings& settings) {
  return settings.max_objects == 0 || settings.max_objects > kMaxObjects ? kMaxObjects
                                                                         : settings.max_objects;
}

std::unique_ptr<Tracker> create_motion_tracker(const TrackerSettings& settings);
std::unique_ptr<Tracker> create_deep_sort_tracker(const TrackerSettings& settings);
std::unique_ptr<Tracker> create_byte_tracker(const TrackerSettings& settings);
std::unique_ptr<Tracker> create_oc_sort_tracker(const TrackerSettings& settings);

}  // namespace het::tracking
