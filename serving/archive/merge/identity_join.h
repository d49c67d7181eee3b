#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "serving/archive/merge/tracked_line.h"

namespace het::archive {

/// Which ids of a range are objects of the range before it: `overlap` are the frames that the range
/// has processed before its start, `before` the same frames of the video as numbered so far. An id
/// of the overlap is the one whose object had the same label and box in the same frame, in the last
/// frame where both were seen; where boxes differ, as supposed ones may, the one that covers it by
/// half at least. No two ids become the same.
std::map<int64_t, int64_t> join_identities(const std::deque<TrackedLine>& before,
                                           const std::vector<TrackedLine>& overlap);

}  // namespace het::archive
