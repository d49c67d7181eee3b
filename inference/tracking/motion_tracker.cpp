#include <algorithm>
#include <cmath>
#include <list>

#include "inference/tracking/assignment.h"
#include "inference/tracking/matching.h"

namespace het::tracking {
namespace {

/// A new object's velocity is unknown: so many of its sizes away it may be in the next frame.
constexpr float kReachOfNewObject = 1.5f;
/// How far a small or sudden one may be from where it is supposed.
constexpr float kReach = 0.75f;
/// Sides of the same object differ by this factor at most when it is found by distance alone.
constexpr float kSizeRatio = 2.0f;

float overlap_cost(const TrackerSettings& settings, const Track& track, const Observation& seen) {
  if (!may_match(settings, track, seen)) return kForbidden;
  const float distance = 1.0f - overlap(track.filter.box(), seen.box);
  return distance <= settings.max_overlap_distance ? distance : kForbidden;
}

bool is_alike(float a, float b) {
  return a <= b * kSizeRatio && b <= a * kSizeRatio;
}

/// For boxes that overlap too little: how far the centres are apart, in sizes of the boxes.
float centre_cost(const TrackerSettings& settings, const Track& track, const Observation& seen) {
  if (!may_match(settings, track, seen)) return kForbidden;
  const Box box = track.filter.box();
  if (!is_alike(box.width(), seen.box.width()) || !is_alike(box.height(), seen.box.height()))
    return kForbidden;
  const float x = (box.x_min + box.x_max - seen.box.x_min - seen.box.x_max) / 2.0f;
  const float y = (box.y_min + box.y_max - seen.box.y_min - seen.box.y_max) / 2.0f;
  const float size = (box.width() + box.height() + seen.box.width() + seen.box.height()) / 4.0f;
  const float distance = std::hypot(x, y) / size;
  const float reach = track.observations == 1 ? kReachOfNewObject : kReach;
  return distance <= reach ? distance : kForbidden;
}

/// Each frame: (1) every track moves on; (2) tracks and observations are paired by overlap, (3)
/// what is left by the distance of the centres; (4) tracks that have been missing for too long are
/// forgotten; (5) observations without a track begin one.
class MotionTracker final : public Tracker {
 public:
  explicit MotionTracker(const TrackerSettings& settings) : settings_(settings) {}

  TrackedFrame update(const std::vector<Observation>& observations) override {
    for (Track& track : tracks_) {
      track.filter.predict();
      ++track.missing;
    }
    TrackedFrame frame;
    if (observations.empty() && settings_.type == TrackerType::Prediction)
      suppose(frame, settings_.max_prediction);

    std::vector<Track*> tracks;
    for (Track& track : tracks_) tracks.push_back(&track);
    std::vector<size_t> left = tracked_observations(settings_, observations);
    std::vector<Track*> owners(observations.size(), nullptr);
    const auto by = [&](auto cost) {
      match(
          tracks, left, observations,
          [&](const Track& track, const Observation& seen) { return cost(settings_, track, seen); },
          owners);
    };
    by(overlap_cost);
    by(centre_cost);
    tracks_.remove_if([&](const Track& track) { return track.missing > settings_.max_age; });
    for (size_t seen : left) {
      if (tracks_.size() >= object_limit(settings_)) break;
      owners[seen] = &tracks_.emplace_back(observations[seen], /*feature_budget=*/size_t{1});
      owners[seen]->id = ++last_id_;
    }
    for (const Track* owner : owners) frame.ids.push_back(owner ? owner->id : kNoId);
    return frame;
  }

  TrackedFrame pass() override {
    for (Track& track : tracks_) track.filter.predict();
    TrackedFrame frame;
    if (settings_.type == TrackerType::Prediction) suppose(frame, /*most_missing=*/0);
    return frame;
  }

  void reset() override {
    tracks_.clear();
    last_id_ = kNoId;
  }

 private:
  void suppose(TrackedFrame& frame, int most_missing) const {
    for (const Track& track : tracks_) {
      if (track.missing > most_missing) continue;
      frame.supposed.push_back(
          {track.id, track.filter.box(), track.label, track.confidence, track.label_id});
    }
  }

  TrackerSettings settings_;
  std::list<Track> tracks_;
  int last_id_ = kNoId;
};

}  // namespace

std::unique_ptr<Tracker> create_motion_tracker(const TrackerSettings& settings) {
  return std::make_unique<MotionTracker>(settings);
}

}  // namespace het::tracking
