#pragma once

#include <vector>

#include "serving/archive/records/archive_plan.h"
#include "serving/archive/scan/video_scan.h"

namespace het::archive {

/// The shards of a video, without their keys: ranges from key frame to key frame, each at least
/// `shard_s` long, that begin to play `overlap_s` earlier, at a key frame. The whole video where
/// `shard_s` is 0, where it is too short, or where ranges cannot be told: it could not be parsed,
/// or frames have no times of their own.
std::vector<PlannedShard> shard_ranges(const VideoScan& scan, double shard_s, double overlap_s);

}  // namespace het::archive
