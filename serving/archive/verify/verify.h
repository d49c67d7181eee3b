#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/archive/merge/shard_state.h"
#include "serving/archive/records/archive_plan.h"

namespace het::archive {

struct VerifySettings {
  /// The pipeline drops or makes frames (videorate), so those of the video are not compared.
  bool any_frames = false;
  std::function<bool()> is_stopped = [] { return false; };
};

struct Fault {
  std::string what;  ///< with the video and the shard
  std::string remedy;
  std::optional<size_t> redo;  ///< a shard whose note has to go, so that it is made anew
};

struct VerifyReport {
  uint64_t videos = 0;  ///< all of whose shards are done and right
  uint64_t shards = 0;  ///< the same
  uint64_t frames = 0;
  std::vector<Fault> faults;
  std::vector<std::string> given_up;  ///< with their reasons
  std::vector<std::string> remarks;   ///< what looks wrong and is not

  /// The shards that the faults name to be made anew.
  std::set<size_t> redo() const;
};

/// Every frame of every video once: what the plan has of each video, what came to the sinks beside
/// the frames of the video, outputs beside their notes. Where parsing and the pipeline tell other
/// frames, the video is decoded: what a decoder gives counts. Fails where something cannot be read
/// at all, with Cancelled.
Result<VerifyReport> verify_archive(const ArchiveFolder& folder, const ArchivePlan& plan,
                                    const std::vector<ShardState>& states,
                                    const VerifySettings& settings);

/// Removes the notes of these shards, so that another run makes them anew.
Status redo_shards(const ArchiveFolder& folder, const ArchivePlan& plan,
                   const std::set<size_t>& shards);

}  // namespace het::archive
