#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"

namespace het::serving {

/// How an instance is.
struct InstanceStatus {
  std::string name;
  std::string state;        ///< "starting", "playing", "waiting", "ended", "failed"
  int pid = 0;              ///< 0: no process
  std::string numa_nodes;   ///< "0" or "0-1"
  std::string processors;   ///< "0-3,8"
  uint64_t runs = 0;        ///< processes so far
  uint64_t frames = 0;      ///< that reached sinks, of all streams and runs
  double frames_per_s = 0;  ///< in the last second
  double cpu_s = 0;         ///< processor time of the process
  std::string last_end;     ///< how the process before ended; empty: there was none
  struct Stream {
    std::string name;
    std::string state;
    uint64_t frames = 0;
    uint64_t runs = 0;
  };
  std::vector<Stream> streams;
};

/// How a running `hetero launch` is: what `hetero launch --status` shows.
struct LaunchStatus {
  std::string name;
  int pid = 0;
  double running_s = 0;
  std::vector<InstanceStatus> instances;

  std::string to_json() const;
  static Result<LaunchStatus> parse(std::string_view json);
  /// Every instance plays, or has ended well.
  bool is_well() const;
};

/// A list of them.
std::string status_json(const std::vector<LaunchStatus>& launches);

}  // namespace het::serving
