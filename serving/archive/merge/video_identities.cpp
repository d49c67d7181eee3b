#include "serving/archive/merge/video_identities.h"

#include <algorithm>
#include <utility>

#include "serving/archive/merge/identity_join.h"

namespace het::archive {

void VideoIdentities::begin_video() {
  *this = VideoIdentities();
}

void VideoIdentities::begin_range(const std::vector<TrackedLine>& overlap) {
  is_first_ = false;
  numbers_ = join_identities(before_, overlap);
  border_ = BorderIdentities();
  crossing_.clear();
  for (const TrackedLine& line : overlap) {
    for (const TrackedObject& object : line.objects) crossing_.insert(object.id);
  }
}

std::vector<int64_t> VideoIdentities::number(const TrackedLine& line) {
  // A tracker numbers new objects of a frame in an order of its own, which its ids tell.
  std::set<int64_t> ids;
  for (const TrackedObject& object : line.objects) ids.insert(object.id);
  for (const int64_t id : ids) {
    const bool is_known = numbers_.contains(id);
    if (!is_known) numbers_[id] = is_first_ ? id : last_id_ + 1;
    last_id_ = std::max(last_id_, numbers_[id]);
    if (crossing_.erase(id) == 0) continue;
    ++border_.crossed;
    if (is_known) {
      ++border_.joined;
    } else {
      border_.new_ids.push_back(numbers_[id]);
    }
  }
  TrackedLine numbered = line;
  std::vector<int64_t> given;
  for (TrackedObject& object : numbered.objects) {
    object.id = numbers_.at(object.id);
    given.push_back(object.id);
  }
  while (!before_.empty() && before_.front().timestamp_ns < keep_from_ns_) before_.pop_front();
  if (line.timestamp_ns >= keep_from_ns_) before_.push_back(std::move(numbered));
  return given;
}

}  // namespace het::archive
