#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/archive/records/archive_folder.h"

namespace het::archive {

/// That a shard is done, and what came out. Of its overlap nothing is counted.
struct ShardNote {
  std::string key;
  uint64_t frames = 0;  ///< that came to the sink in the shard's range
  std::optional<uint64_t> first_ns;
  std::optional<uint64_t> last_ns;
  std::string timestamps;  ///< timestamps_digest() of these frames
  uint64_t lines = 0;      ///< of outputs/KEY.jsonl, with its size and SHA-256
  uint64_t bytes = 0;
  std::string sha256;
  double seconds = 0;        ///< from its start to its last frame, others beside it
  double start_seconds = 0;  ///< of these, until its first frame
  std::string host;
  uint64_t pid = 0;
  // What predictions need: shards of a process may be under way at once.
  double ended_s = 0;    ///< when it was done, seconds since 1970 by the clock of its host
  double process_s = 0;  ///< how long its process had been there by then
  bool operator==(const ShardNote&) const = default;

  std::string to_json() const;
  static Result<ShardNote> parse(std::string_view text, const std::string& place);
};

/// SHA-256 of the decimal times in ascending order, a line each. `untimed` frames have none and
/// stand behind as "none".
std::string timestamps_digest(std::vector<uint64_t> times_ns, uint64_t untimed = 0);

/// Nothing where there is none. Fails with ParseError, NotFound.
Result<std::optional<ShardNote>> read_note(const ArchiveFolder& folder, const std::string& key);
/// The note of a shard that is done: nothing where there is none, none that can be read, or where
/// the output is not there with the size that it says.
std::optional<ShardNote> done_note(const ArchiveFolder& folder, const std::string& key);
Status write_note(const ArchiveFolder& folder, const ShardNote& note);

}  // namespace het::archive
