#pragma once

#include <list>
#include <utility>
#include <vector>

#include "inference/tracking/matching.h"

namespace het::tracking {

/// The noise of these trackers' filters, chosen on generated scenes (benchmarks/tracking): places
/// follow what is seen with certainty closely and what is seen with doubt little, and sides hardly
/// change on their own.
inline constexpr BoxNoise kConfidenceNoise = {.place = 0.006f,
                                              .velocity = 0.008f,
                                              .sight = 0.02f,
                                              .new_velocity = 0.25f,
                                              .doubt = 4.0f,
                                              .side_share = 0.1f};

/// 1 - overlap() at most: of a known object and a sure observation, ...
inline constexpr float kSureDistance = 0.7f;
/// ... of one and an unsure observation, which may be something else, ...
inline constexpr float kUnsureDistance = 0.5f;
/// ... and of the first two observations of an object, whose velocity is not known.
inline constexpr float kFreshDistance = 0.7f;

/// One frame on its way through a tracker.
struct FrameInHand {
  explicit FrameInHand(const std::vector<Observation>& given)
      : observations(given), owners(given.size(), nullptr) {}

  const std::vector<Observation>& observations;
  std::vector<size_t> sure;    ///< what is left of those from track_threshold on
  std::vector<size_t> unsure;  ///< of those between low_threshold and track_threshold
  std::vector<Track*> owners;  ///< one an observation
};

/// What ByteTrack and OC-SORT have in common, each frame: (1) every track moves on; (2) tracks with
/// an id are paired with sure observations, then with unsure ones; (3) tracks without an id with
/// what is left of the sure ones; (4) a track without an id that is missing, or one that has been
/// for too long, ends; (5) sure observations without a track begin one. What is not sure and has no
/// track is rejected.
template <class OneTrack>
class ConfidenceTracker : public Tracker {
 public:
  TrackedFrame update(const std::vector<Observation>& observations) final {
    move_on();
    for (OneTrack& track : tracks_) ++track.missing;
    FrameInHand frame(observations);
    for (size_t i : tracked_observations(settings_, observations)) {
      const float confidence = observations[i].confidence;
      if (confidence >= settings_.track_threshold) {
        frame.sure.push_back(i);
      } else if (confidence >= settings_.low_threshold) {
        frame.unsure.push_back(i);
      }
    }
    std::vector<Track*> known = tracks_that([](const Track& track) { return track.id != kNoId; });
    pair_known(known, frame);
    std::vector<Track*> fresh = tracks_that([](const Track& track) { return track.id == kNoId; });
    pair_fresh(fresh, frame);
    for (size_t i = 0; i < observations.size(); ++i) {
      if (frame.owners[i]) corrected(static_cast<OneTrack&>(*frame.owners[i]), observations[i]);
    }
    tracks_.remove_if([&](const OneTrack& track) {
      return track.missing > (track.id == kNoId ? 0 : settings_.max_age);
    });
    begin_tracks(frame);
    TrackedFrame tracked = result(frame);
    // An empty picture before anything came is no first one.
    is_first_ = is_first_ && observations.empty();
    return tracked;
  }

  TrackedFrame pass() final {
    move_on();
    return {};
  }

  void reset() final {
    tracks_.clear();
    is_first_ = true;
    last_id_ = kNoId;
  }

 protected:
  explicit ConfidenceTracker(const TrackerSettings& settings) : settings_(settings) {}

  /// Steps (2) and (3).
  virtual void pair_known(std::vector<Track*>& tracks, FrameInHand& frame) = 0;
  virtual void pair_fresh(std::vector<Track*>& tracks, FrameInHand& frame) = 0;
  /// One frame passes.
  virtual void move_on() {
    for (OneTrack& track : tracks_) track.filter.predict();
  }
  /// The track has just been paired with what was seen.
  virtual void corrected(OneTrack&, const Observation&) {}

  const TrackerSettings settings_;
  std::list<OneTrack> tracks_;

 private:
  template <class Condition>
  std::vector<Track*> tracks_that(Condition condition) {
    std::vector<Track*> chosen;
    for (OneTrack& track : tracks_) {
      if (condition(track)) chosen.push_back(&track);
    }
    return chosen;
  }

  void begin_tracks(FrameInHand& frame) {
    for (size_t seen : frame.sure) {
      if (tracks_.size() >= object_limit(settings_)) break;
      if (frame.observations[seen].confidence < new_threshold(settings_)) continue;
      frame.owners[seen] = &tracks_.emplace_back(frame.observations[seen],
                                                 /*feature_budget=*/size_t{1}, kConfidenceNoise);
    }
  }

  TrackedFrame result(const FrameInHand& frame) {
    TrackedFrame tracked;
    for (size_t i = 0; i < frame.owners.size(); ++i) {
      Track* owner = frame.owners[i];
      if (owner && owner->id == kNoId &&
          (is_first_ || owner->observations >= settings_.first_observations))
        owner->id = ++last_id_;
      tracked.ids.push_back(owner ? owner->id : kNoId);
      if (!owner && !(frame.observations[i].confidence >= settings_.track_threshold))
        tracked.rejected.push_back(i);
    }
    return tracked;
  }

  bool is_first_ = true;  ///< nobody has looked yet
  int last_id_ = kNoId;
};

}  // namespace het::tracking
