#pragma once

#include <filesystem>
#include <string>

#include "inference/base/status.h"
#include "serving/archive/records/archive_plan.h"
#include "serving/archive/records/shard_note.h"
#include "serving/archive/worker/frame_times.h"

namespace het::archive {

/// The files of a shard while it is not complete: those that are left are removed at the end.
class ShardParts {
 public:
  ShardParts(const ArchiveFolder& folder, const std::string& key);
  ~ShardParts();
  ShardParts(const ShardParts&) = delete;
  ShardParts& operator=(const ShardParts&) = delete;

  const std::filesystem::path& written() const { return written_; }  ///< by the pipeline
  const std::filesystem::path& lines() const { return lines_; }      ///< of the range
  const std::filesystem::path& overlap() const { return overlap_; }  ///< of the time before it

 private:
  std::filesystem::path written_;
  std::filesystem::path lines_;
  std::filesystem::path overlap_;
};

/// Makes a shard done: checks that what its pipeline has written are JSON objects, a line each,
/// divides those of a range, gives the files their names and writes the note, whose `frames` to
/// `last_ns`, `timestamps`, `lines` to `sha256` are filled in. Fails with ParseError for what is no
/// such line, with NotFound and Internal.
Status finish_shard(const ArchiveFolder& folder, const ArchivePlan& plan, const PlannedShard& shard,
                    const ShardParts& parts, const FrameTimes::Frames& frames, ShardNote& note);

}  // namespace het::archive
