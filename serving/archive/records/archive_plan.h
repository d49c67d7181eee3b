#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/archive/records/archive_folder.h"

namespace het::archive {

/// A video of a plan, in the plan's order.
struct PlannedVideo {
  std::string name;     ///< its path below the folder that all videos of the plan have in common
  std::string uri;      ///< as it was found: of the web with its signature
  std::string path;     ///< empty for what is no file
  std::string content;  ///< "sha256:" and digits; empty where it could not be read
  uint64_t bytes = 0;
  uint64_t frames = 0;               ///< that parsing has found
  uint64_t duration_ns = 0;          ///< to the end of its last frame
  std::optional<std::string> error;  ///< why it could not be parsed
  std::vector<size_t> shards;        ///< in order of time, one at least
  bool operator==(const PlannedVideo&) const = default;
};

/// All times are stream time, as heterometaconvert writes them.
struct PlannedShard {
  std::string key;
  size_t video = 0;
  uint64_t start_ns = 0;
  std::optional<uint64_t> stop_ns;  ///< nothing: to the end
  uint64_t from_ns = 0;             ///< a key frame; earlier than `start_ns` where there is overlap
  uint64_t frames = 0;              ///< in [start, stop)
  bool operator==(const PlannedShard&) const = default;

  bool has(uint64_t time_ns) const {
    return time_ns >= start_ns && (!stop_ns || time_ns < *stop_ns);
  }
};

struct ArchivePlan {
  std::vector<std::string> pipeline;  ///< words with their placeholders
  std::string version;                ///< of the program that made it
  double shard_s = 0;                 ///< least length of a range; 0: whole files
  double overlap_s = 0;
  std::vector<PlannedVideo> videos;
  std::vector<PlannedShard> shards;
  bool operator==(const ArchivePlan&) const = default;

  /// The only shard of its video, which is played without a seek.
  bool is_whole(const PlannedShard& shard) const { return videos[shard.video].shards.size() == 1; }

  std::string to_json() const;
  /// Fails with ParseError, also where indices lead nowhere. `place` names it in messages.
  static Result<ArchivePlan> parse(std::string_view text, const std::string& place);
};

/// Fails with NotFound where there is none, with ParseError.
Result<ArchivePlan> read_plan(const ArchiveFolder& folder);
/// Replaces the one that is there as a whole.
Status write_plan(const ArchiveFolder& folder, const ArchivePlan& plan);

/// The content of a file. Fails with NotFound.
Result<std::string> read_text(const std::filesystem::path& path);

}  // namespace het::archive
