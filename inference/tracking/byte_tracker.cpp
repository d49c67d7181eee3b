#include "inference/tracking/assignment.h"
#include "inference/tracking/confidence_tracker.h"

namespace het::tracking {
namespace {

/// ByteTrack (Y. Zhang and others, "ByteTrack: multi-object tracking by associating every detection
/// box", 2022). Known tracks are paired with sure observations by overlap, and those that are left
/// with unsure ones: not only those that were there in the last frame, as there, for who comes out
/// from behind something is half hidden first.
class ByteTracker final : public ConfidenceTracker<Track> {
 public:
  explicit ByteTracker(const TrackerSettings& settings) : ConfidenceTracker(settings) {}

 private:
  void pair_known(std::vector<Track*>& tracks, FrameInHand& frame) override {
    pair(tracks, frame.sure, frame, kSureDistance);
    pair(tracks, frame.unsure, frame, kUnsureDistance);
  }

  void pair_fresh(std::vector<Track*>& tracks, FrameInHand& frame) override {
    pair(tracks, frame.sure, frame, kFreshDistance);
  }

  void pair(std::vector<Track*>& tracks, std::vector<size_t>& left, FrameInHand& frame,
            float most) {
    const auto cost = [&](const Track& track, const Observation& seen) {
      if (!may_match(settings_, track, seen)) return kForbidden;
      const float distance = 1.0f - overlap(track.filter.box(), seen.box);
      return distance <= most ? distance : kForbidden;
    };
    match(tracks, left, frame.observations, cost, frame.owners, most);
  }
};

}  // namespace

std::unique_ptr<Tracker> create_byte_tracker(const TrackerSettings& settings) {
  return std::make_unique<ByteTracker>(settings);
}

}  // namespace het::tracking
