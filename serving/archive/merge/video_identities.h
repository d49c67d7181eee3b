#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "serving/archive/merge/tracked_line.h"

namespace het::archive {

/// What became of the identities at a border between two ranges.
struct BorderIdentities {
  size_t crossed = 0;            ///< ids of the overlap that are in the range, too
  size_t joined = 0;             ///< of them, those that are known from the range before
  std::vector<int64_t> new_ids;  ///< what the others are called in the merged video
};

/// The ids of one video whose ranges come one after the other: those of the first stay, those of
/// the others are joined with what came before or get the next number. Thread-compatible.
class VideoIdentities {
 public:
  /// The range from the video's start. Its ids are the tracker's.
  void begin_video();
  /// A range behind others, with the lines that it has of the frames before its start.
  void begin_range(const std::vector<TrackedLine>& overlap);
  /// Lines before this time are not needed any more: the next overlap begins there.
  void keep_from(int64_t timestamp_ns) { keep_from_ns_ = timestamp_ns; }

  /// The ids of the next line's objects.
  std::vector<int64_t> number(const TrackedLine& line);

  /// Of the range that began last.
  const BorderIdentities& border() const { return border_; }

 private:
  bool is_first_ = true;
  int64_t last_id_ = 0;  ///< the highest that the video has
  int64_t keep_from_ns_ = 0;
  std::deque<TrackedLine> before_;      ///< with the video's ids
  std::map<int64_t, int64_t> numbers_;  ///< an id of the range -> one of the video
  std::set<int64_t> crossing_;          ///< ids of the overlap that were not in the range yet
  BorderIdentities border_;
};

}  // namespace het::archive
