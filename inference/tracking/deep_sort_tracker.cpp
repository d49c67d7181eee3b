#include <algorithm>
#include <list>

#include "inference/tracking/assignment.h"
#include "inference/tracking/matching.h"

namespace het::tracking {
namespace {

/// Deep SORT (N. Wojke, A. Bewley, D. Paulus, "Simple online and realtime tracking with a deep
/// association metric", 2017), each frame: (1) every track moves on; (2) confirmed tracks are
/// paired with observations by their looks as far as their places agree, those that were seen last
/// first; (3) the others that were there in the last frame are paired by overlap; (4) an
/// unconfirmed track that is missing, or a confirmed one that has been for too long, ends; (5) with
/// reappearance_age, looks alone pair what is left with tracks that ended; (6) observations without
/// a track begin one. Observations without a feature vector are paired by overlap only.
class DeepSortTracker final : public Tracker {
 public:
  explicit DeepSortTracker(const TrackerSettings& settings) : settings_(settings) {}

  TrackedFrame update(const std::vector<Observation>& given) override {
    std::vector<Observation> observations = given;
    for (Observation& seen : observations) seen.feature = normalised(std::move(seen.feature));
    for (Track& track : tracks_) {
      track.filter.predict();
      ++track.missing;
    }
    std::vector<size_t> left = tracked_observations(settings_, observations);
    std::vector<Track*> owners(observations.size(), nullptr);
    match_by_looks(observations, left, owners);
    match_by_overlap(observations, left, owners);
    end_tracks();
    find_again(observations, left, owners);
    for (size_t seen : left) {
      if (tracks_.size() >= object_limit(settings_)) break;
      owners[seen] = &tracks_.emplace_back(observations[seen], settings_.feature_budget);
    }
    TrackedFrame frame;
    for (Track* owner : owners) {
      if (owner && owner->id == kNoId && owner->observations >= settings_.confirmations)
        owner->id = ++last_id_;
      frame.ids.push_back(owner ? owner->id : kNoId);
    }
    return frame;
  }

  TrackedFrame pass() override {
    for (Track& track : tracks_) track.filter.predict();
    return {};
  }

  void reset() override {
    tracks_.clear();
    ended_.clear();
    last_id_ = kNoId;
  }

 private:
  static bool is_confirmed(const Track& track) { return track.id != kNoId; }

  void match_by_looks(const std::vector<Observation>& observations, std::vector<size_t>& left,
                      std::vector<Track*>& owners) {
    const auto cost = [&](const Track& track, const Observation& seen) {
      if (!may_match(settings_, track, seen) || track.filter.distance(seen.box) > BoxFilter::kGate)
        return kForbidden;
      const float distance = track.gallery.distance(seen.feature);
      return distance <= settings_.max_cosine_distance ? distance : kForbidden;
    };
    for (int missing = 1; missing <= settings_.max_age && !left.empty(); ++missing) {
      std::vector<Track*> tracks;
      for (Track& track : tracks_) {
        if (is_confirmed(track) && track.missing == missing) tracks.push_back(&track);
      }
      match(tracks, left, observations, cost, owners);
    }
  }

  void match_by_overlap(const std::vector<Observation>& observations, std::vector<size_t>& left,
                        std::vector<Track*>& owners) {
    const auto cost = [&](const Track& track, const Observation& seen) {
      if (!may_match(settings_, track, seen)) return kForbidden;
      // Where looks are known, they have decided on all but those of the last frame.
      const bool by_overlap_only = seen.feature.empty() || track.gallery.empty();
      if (track.missing > 1 && !by_overlap_only) return kForbidden;
      const float distance = 1.0f - overlap(track.filter.box(), seen.box);
      return distance <= settings_.max_overlap_distance ? distance : kForbidden;
    };
    std::vector<Track*> tracks;
    for (Track& track : tracks_) {
      if (track.missing > 0) tracks.push_back(&track);
    }
    match(tracks, left, observations, cost, owners);
  }

  void end_tracks() {
    for (Track& track : ended_) ++track.missing;
    for (auto track = tracks_.begin(); track != tracks_.end();) {
      const bool over = track->missing > (is_confirmed(*track) ? settings_.max_age : 0);
      const auto next = std::next(track);
      if (over && is_confirmed(*track) && settings_.reappearance_age > 0) {
        ended_.splice(ended_.end(), tracks_, track);
      } else if (over) {
        tracks_.erase(track);
      }
      track = next;
    }
    ended_.remove_if([&](const Track& track) {
      return track.missing > settings_.max_age + settings_.reappearance_age;
    });
    while (ended_.size() > kMaxObjects) ended_.pop_front();
  }

  void find_again(const std::vector<Observation>& observations, std::vector<size_t>& left,
                  std::vector<Track*>& owners) {
    const auto cost = [&](const Track& track, const Observation& seen) {
      if (!may_match(settings_, track, seen)) return kForbidden;
      const float distance = track.gallery.distance(seen.feature);
      return distance <= settings_.max_cosine_distance ? distance : kForbidden;
    };
    std::vector<Track*> tracks;
    for (Track& track : ended_) tracks.push_back(&track);
    match(tracks, left, observations, cost, owners);
    // It moves from where it is now, not from where it went.
    for (size_t seen = 0; seen < owners.size(); ++seen) {
      const auto found = std::find_if(ended_.begin(), ended_.end(),
                                      [&](const Track& track) { return &track == owners[seen]; });
      if (found == ended_.end()) continue;
      found->filter = BoxFilter(observations[seen].box);
      tracks_.splice(tracks_.end(), ended_, found);
    }
  }

  TrackerSettings settings_;
  std::list<Track> tracks_;
  std::list<Track> ended_;  ///< forgotten but for their looks
  int last_id_ = kNoId;
};

}  // namespace

std::unique_ptr<Tracker> create_deep_sort_tracker(const TrackerSettings& settings) {
  return std::make_unique<DeepSortTracker>(settings);
}

}  // namespace het::tracking
