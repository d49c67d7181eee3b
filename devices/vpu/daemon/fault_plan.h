#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "inference/base/status.h"

namespace het::vpu {

/// What a device does wrong, for tests of hosts.
enum class DeviceFault : uint8_t {
  None,
  Crash,     ///< the process ends at once
  Hang,      ///< nothing is answered any more, but the link stays
  Drop,      ///< a request is not answered
  Corrupt,   ///< a byte of an answer is wrong
  Slow,      ///< a request takes 200 ms more
  Throttle,  ///< requests take three times as long from now on
};

/// Faults at certain requests, counted over all hosts. Thread-safe.
class FaultPlan {
 public:
  /// From "crash:3": at the third request. Fails with InvalidArgument for another kind, a second
  /// fault of one number or a number that is none.
  static Result<std::vector<std::pair<uint64_t, DeviceFault>>> parse(
      const std::vector<std::string>& texts);
  explicit FaultPlan(std::vector<std::pair<uint64_t, DeviceFault>> faults)
      : faults_(std::move(faults)) {}

  /// What the next request meets.
  DeviceFault next();

 private:
  const std::vector<std::pair<uint64_t, DeviceFault>> faults_;
  std::atomic<uint64_t> requests_{0};
};

}  // namespace het::vpu
