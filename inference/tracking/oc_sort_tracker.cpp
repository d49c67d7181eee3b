#include <cmath>
#include <cstdint>
#include <deque>
#include <numbers>

#include "inference/tracking/assignment.h"
#include "inference/tracking/confidence_tracker.h"

namespace het::tracking {
namespace {

/// Frames over which a direction is taken: between neighbours it is mostly noise.
constexpr int kDirectionFrames = 3;
/// What directions that are opposite cost; boxes without overlap cost 1.
constexpr float kDirectionWeight = 0.2f;
/// 1 - overlap() with where it was seen last, at most.
constexpr float kLastDistance = 0.5f;

/// Where an object was seen.
struct Sighting {
  int64_t frame = 0;
  Box box;
};

struct Direction {
  float x = 0.0f;
  float y = 0.0f;
};

/// From centre to centre; 0, 0 where they are the same.
Direction direction(const Box& from, const Box& to) {
  const float x = (to.x_min + to.x_max - from.x_min - from.x_max) / 2.0f;
  const float y = (to.y_min + to.y_max - from.y_min - from.y_max) / 2.0f;
  const float length = std::hypot(x, y);
  if (!(length > 0.0f)) return {};
  return {x / length, y / length};
}

/// A track that keeps what was seen beside what is supposed.
struct ObservedTrack : Track {
  ObservedTrack(const Observation& seen, size_t feature_budget, const BoxNoise& noise = {})
      : Track(seen, feature_budget, noise), filter_when_seen(filter) {}

  /// The last one that is old enough for a direction, else the oldest; the last one of all is
  /// back().
  const Sighting& before(int64_t frame) const {
    for (auto one = sightings.rbegin(); one != sightings.rend(); ++one) {
      if (frame - one->frame >= kDirectionFrames) return *one;
    }
    return sightings.front();
  }

  BoxFilter filter_when_seen;  ///< as it was in the frame of the last sighting
  std::deque<Sighting> sightings;
};

/// OC-SORT (J. Cao and others, "Observation-centric SORT: rethinking SORT for robust multi-object
/// tracking", 2023). Known tracks are paired with sure observations by overlap and by how little
/// they turn (momentum); those that are left by the overlap with where they were seen last
/// (recovery). Unsure observations go on with known tracks in between, as in ByteTrack. A track
/// that is seen again after a gap forgets what was supposed meanwhile: its filter goes back and
/// follows a straight line between both sightings (re-update).
class OcSortTracker final : public ConfidenceTracker<ObservedTrack> {
 public:
  explicit OcSortTracker(const TrackerSettings& settings) : ConfidenceTracker(settings) {}

 private:
  void move_on() override {
    ++frame_;
    ConfidenceTracker::move_on();
    // A new one's place is told by who made it.
    for (ObservedTrack& track : tracks_) {
      if (track.sightings.empty())
        track.sightings.push_back({frame_ - 1, track.filter_when_seen.box()});
    }
  }

  void pair_known(std::vector<Track*>& tracks, FrameInHand& frame) override {
    const auto by_momentum = [&](const Track& track, const Observation& seen) {
      const float distance = overlap_distance(track, track.filter.box(), seen);
      if (distance > kSureDistance) return kForbidden;
      return distance + kDirectionWeight * turn(static_cast<const ObservedTrack&>(track), seen);
    };
    match(tracks, frame.sure, frame.observations, by_momentum, frame.owners,
          kSureDistance + kDirectionWeight);
    pair_unsure(tracks, frame);
    pair_with_last(tracks, frame, kLastDistance);
  }

  void pair_fresh(std::vector<Track*>& tracks, FrameInHand& frame) override {
    pair_with_last(tracks, frame, kFreshDistance);
  }

  void pair_unsure(std::vector<Track*> tracks, FrameInHand& frame) {
    const auto cost = [&](const Track& track, const Observation& seen) {
      const float distance = overlap_distance(track, track.filter.box(), seen);
      return distance <= kUnsureDistance ? distance : kForbidden;
    };
    match(tracks, frame.unsure, frame.observations, cost, frame.owners, kUnsureDistance);
  }

  void pair_with_last(std::vector<Track*>& tracks, FrameInHand& frame, float most) {
    std::erase_if(tracks, [](const Track* track) { return track->missing == 0; });
    const auto cost = [&](const Track& track, const Observation& seen) {
      const Box& last = static_cast<const ObservedTrack&>(track).sightings.back().box;
      const float distance = overlap_distance(track, last, seen);
      return distance <= most ? distance : kForbidden;
    };
    match(tracks, frame.sure, frame.observations, cost, frame.owners, most);
  }

  float overlap_distance(const Track& track, const Box& supposed, const Observation& seen) const {
    if (!may_match(settings_, track, seen)) return kForbidden;
    return 1.0f - overlap(supposed, seen.box);
  }

  /// The angle between where it went and where it would go, from 0 (straight on) to 1 (back).
  float turn(const ObservedTrack& track, const Observation& seen) const {
    const Sighting& last = track.sightings.back();
    const Direction was = direction(track.before(last.frame).box, last.box);
    const Direction is = direction(track.before(frame_).box, seen.box);
    const float cosine = std::clamp(was.x * is.x + was.y * is.y, -1.0f, 1.0f);
    return std::acos(cosine) / std::numbers::pi_v<float>;
  }

  void corrected(ObservedTrack& track, const Observation& seen) override {
    const Sighting last = track.sightings.back();
    const int64_t gap = frame_ - last.frame;
    if (gap > 1) {
      track.filter = track.filter_when_seen;
      for (int64_t step = 1; step <= gap; ++step) {
        track.filter.predict();
        track.filter.correct(
            between(last.box, seen.box, static_cast<float>(step) / static_cast<float>(gap)),
            seen.confidence);
      }
    }
    track.filter_when_seen = track.filter;
    track.sightings.push_back({frame_, seen.box});
    while (track.sightings.size() > kDirectionFrames + 1) track.sightings.pop_front();
  }

  static Box between(const Box& a, const Box& b, float share) {
    const auto mixed = [share](float from, float to) { return from + share * (to - from); };
    return {mixed(a.x_min, b.x_min), mixed(a.y_min, b.y_min), mixed(a.x_max, b.x_max),
            mixed(a.y_max, b.y_max)};
  }

  int64_t frame_ = 0;
};

}  // namespace

std::unique_ptr<Tracker> create_oc_sort_tracker(const TrackerSettings& settings) {
  return std::make_unique<OcSortTracker>(settings);
}

}  // namespace het::tracking
