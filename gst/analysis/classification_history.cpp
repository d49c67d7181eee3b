#include "classification_history.h"

#include <algorithm>

namespace het::gst {
namespace {

/// The object that was due longest ago is forgotten first.
constexpr size_t kMaxObjects = 1000;

/// Maps places in one rectangle to the same ones of another.
class Move {
 public:
  Move(const Rect& from, const Rect& to)
      : from_(from),
        to_(to),
        x_scale_(from.width > 0 ? static_cast<float>(to.width) / static_cast<float>(from.width)
                                : 1.0f),
        y_scale_(from.height > 0 ? static_cast<float>(to.height) / static_cast<float>(from.height)
                                 : 1.0f) {}

  template <class Box>
  void box(Box& box) const {
    box.x_min = x(box.x_min);
    box.x_max = x(box.x_max);
    box.y_min = y(box.y_min);
    box.y_max = y(box.y_max);
  }
  void points(Landmarks& landmarks) const {
    for (Point& point : landmarks.points) point = {x(point.x), y(point.y)};
  }

 private:
  float x(float value) const {
    return static_cast<float>(to_.x) + (value - static_cast<float>(from_.x)) * x_scale_;
  }
  float y(float value) const {
    return static_cast<float>(to_.y) + (value - static_cast<float>(from_.y)) * y_scale_;
  }

  Rect from_;
  Rect to_;
  float x_scale_;
  float y_scale_;
};

}  // namespace

bool ClassificationHistory::is_due(int object_id, uint64_t frame, uint64_t interval) {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(object_id);
  if (found == entries_.end()) {
    if (entries_.size() >= kMaxObjects) {
      entries_.erase(std::min_element(
          entries_.begin(), entries_.end(),
          [](const auto& a, const auto& b) { return a.second.due < b.second.due; }));
    }
    Entry& entry = entries_[object_id];
    entry.first = frame;
    entry.due = frame;
    return true;
  }
  Entry& entry = found->second;
  if (interval == 0 || frame - entry.due < interval) return false;
  entry.due = frame;
  return true;
}

void ClassificationHistory::store(int object_id, uint64_t frame, const Rect& rect,
                                  const Results& results) {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(object_id);
  // An entry that is younger than the frame is another object's.
  if (found == entries_.end() || found->second.first > frame) return;
  found->second.found_in = frame;
  found->second.rect = rect;
  found->second.results = results;
}

std::optional<Results> ClassificationHistory::last(int object_id, uint64_t frame,
                                                   const Rect& rect) {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(object_id);
  if (found == entries_.end() || !found->second.found_in || *found->second.found_in > frame)
    return std::nullopt;
  Results results = found->second.results;
  const Move move(found->second.rect, rect);
  for (Detection& detection : results.detections) {
    move.box(detection);
    move.points(detection.landmarks);
  }
  for (Keypoints& keypoints : results.keypoints) move.points(keypoints.landmarks);
  for (Segmentation& segmentation : results.segmentations) move.box(segmentation);
  return results;
}

void ClassificationHistory::clear() {
  std::lock_guard lock(mutex_);
  entries_.clear();
}

}  // namespace het::gst
