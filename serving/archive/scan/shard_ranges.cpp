#include "serving/archive/scan/shard_ranges.h"

#include <algorithm>
#include <cmath>

namespace het::archive {
namespace {

uint64_t nanoseconds(double seconds) {
  return static_cast<uint64_t>(std::llround(seconds * 1e9));
}

uint64_t frames_between(const std::vector<uint64_t>& times, uint64_t start,
                        std::optional<uint64_t> stop) {
  const auto begin = std::ranges::lower_bound(times, start);
  const auto end = stop ? std::ranges::lower_bound(times, *stop) : times.end();
  return static_cast<uint64_t>(end - begin);
}

/// The last key frame that is early enough; 0 where none is.
uint64_t begin_of_overlap(const std::vector<uint64_t>& key_frames, uint64_t start,
                          uint64_t overlap) {
  if (start <= overlap) return 0;
  const auto later = std::ranges::upper_bound(key_frames, start - overlap);
  return later == key_frames.begin() ? 0 : *std::prev(later);
}

}  // namespace

std::vector<PlannedShard> shard_ranges(const VideoScan& scan, double shard_s, double overlap_s) {
  PlannedShard whole;
  whole.frames = scan.frames;
  if (!(shard_s > 0) || scan.error || !scan.has_exact_times()) return {whole};
  const uint64_t length = nanoseconds(shard_s);
  std::vector<uint64_t> starts = {0};
  for (const uint64_t key : scan.key_frames) {
    const bool is_long = key >= starts.back() && key - starts.back() >= length;
    if (is_long && scan.duration_ns - key >= length) starts.push_back(key);
  }
  if (starts.size() == 1) return {whole};
  std::vector<PlannedShard> shards;
  for (size_t i = 0; i < starts.size(); ++i) {
    PlannedShard shard;
    shard.start_ns = starts[i];
    if (i + 1 < starts.size()) shard.stop_ns = starts[i + 1];
    if (i > 0) {
      shard.from_ns = begin_of_overlap(scan.key_frames, shard.start_ns, nanoseconds(overlap_s));
    }
    shard.frames = frames_between(scan.timestamps, shard.start_ns, shard.stop_ns);
    shards.push_back(shard);
  }
  return shards;
}

}  // namespace het::archive
