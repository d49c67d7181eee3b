#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/archive/records/archive_plan.h"
#include "serving/archive/records/shard_note.h"

namespace het::archive {

/// Whether a shard is done, and why not.
struct ShardState {
  std::optional<ShardNote> note;
  bool given_up = false;
  std::string reason;  ///< the last failure, or that there was none; empty where it is done
};

/// Of all shards of the plan, in its order. Fails where a failure cannot be read.
Result<std::vector<ShardState>> shard_states(const ArchiveFolder& folder, const ArchivePlan& plan);

/// "shard 3 of video 'a.mp4' (20 to 30 s)", "video 'a.mp4'" where it has no other.
std::string shard_text(const ArchivePlan& plan, size_t shard);

}  // namespace het::archive
