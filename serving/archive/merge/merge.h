#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/archive/merge/merged_file.h"
#include "serving/archive/merge/shard_state.h"
#include "serving/archive/merge/video_identities.h"
#include "serving/archive/records/archive_plan.h"

namespace het::archive {

/// A shard that is not among the merged ones.
struct LeftOut {
  size_t shard = 0;
  bool given_up = false;
  std::string reason;
};

/// A border between two ranges that are both there.
struct MergedBorder {
  size_t shard = 0;  ///< the one behind it
  BorderIdentities identities;
};

struct MergeReport {
  size_t shards = 0;
  uint64_t frames = 0;
  uint64_t lines = 0;
  std::vector<LeftOut> left_out;
  std::vector<MergedBorder> borders;

  size_t crossed() const;
  size_t joined() const;
};

/// Shards that a merge leaves out, and why.
std::vector<LeftOut> left_out(const std::vector<ShardState>& states);

/// Writes the lines of all shards that are done: videos in the plan's order, their shards in order
/// of time. The only shard of a video byte for byte; of ranges ids are joined over their borders.
/// Does not keep the file. Fails where an output is not what its note tells of, and with Cancelled
/// when `is_stopped` says so.
Result<MergeReport> merge_shards(const ArchiveFolder& folder, const ArchivePlan& plan,
                                 const std::vector<ShardState>& states, MergedFile& file,
                                 const std::function<bool()>& is_stopped = nullptr);

}  // namespace het::archive
