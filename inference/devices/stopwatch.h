#pragma once

#include <chrono>
#include <cstdint>

#include "inference/base/visibility.h"
#include "inference/devices/profiling.h"

namespace het {

/// Measures the wall time and the calling thread's CPU time from its construction on.
class HET_API Stopwatch {
 public:
  Stopwatch();
  /// Marks the row as executed and adds the times, so that several steps may share a row.
  void stop(ProfileRow& row) const;

 private:
  std::chrono::steady_clock::time_point real_;
  int64_t cpu_us_;
};

}  // namespace het
