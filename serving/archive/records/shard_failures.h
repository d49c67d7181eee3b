#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/archive/records/archive_folder.h"

namespace het::archive {

enum class FailureKind {
  Error,  ///< the pipeline said what is wrong
  Crash,  ///< the process that had it alone was killed by a signal
  Stall,  ///< no frame came for too long
};
const char* to_text(FailureKind kind);
std::optional<FailureKind> failure_kind(std::string_view text);

struct FailedTry {
  std::string time;  ///< UTC, ISO 8601
  std::string host;
  FailureKind kind = FailureKind::Error;
  std::string error;
  bool operator==(const FailedTry&) const = default;
};

/// What has failed of a shard that is not done. One that is given up is not tried again.
struct ShardFailures {
  std::string key;
  std::vector<FailedTry> tries;
  bool given_up = false;
  bool operator==(const ShardFailures&) const = default;

  std::string to_json() const;
  static Result<ShardFailures> parse(std::string_view text, const std::string& place);
};

/// Without tries where nothing has failed. Fails with ParseError, NotFound.
Result<ShardFailures> read_failures(const ArchiveFolder& folder, const std::string& key);
/// Adds a try of now and here; the shard is given up when it is the `most`th. Returns all of them.
/// Two machines that do so at once may lose one of the two.
Result<ShardFailures> add_failure(const ArchiveFolder& folder, const std::string& key,
                                  FailureKind kind, const std::string& error, size_t most);
/// Forgets them, so that the shard is tried again.
Status remove_failures(const ArchiveFolder& folder, const std::string& key);

}  // namespace het::archive
