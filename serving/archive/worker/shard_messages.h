#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "inference/base/status.h"
#include "serving/archive/records/shard_failures.h"

namespace het::archive {

/// What a worker is told, a line on its standard input: {"shard": KEY}.
std::string order_line(const std::string& key);
/// The key. Fails with ParseError.
Result<std::string> parse_order(std::string_view line);

/// What a worker says, a line on its standard output.
struct WorkerAnswer {
  enum class Kind {
    Done,      ///< {"done": KEY, "frames": N, "seconds": S}
    Failed,    ///< {"failed": KEY, "error": TEXT, "kind": "error", "given_up": false}
    Progress,  ///< {"progress": N}: frames of all shards since the worker began, if asked for
  };
  Kind kind = Kind::Progress;
  std::string key = {};
  uint64_t frames = 0;
  double seconds = 0;
  std::string error = {};
  FailureKind failure = FailureKind::Error;
  bool given_up = false;

  /// With its end.
  std::string to_line() const;
  /// Fails with ParseError.
  static Result<WorkerAnswer> parse(std::string_view line);
};

}  // namespace het::archive
