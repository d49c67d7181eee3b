#pragma once

#include <time.h>

namespace het::serving {

/// What a clock of the kernel says, in seconds.
inline double clock_s(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Processor time of the process so far, and the time that has gone by since some point.
inline double process_time_s() {
  return clock_s(CLOCK_PROCESS_CPUTIME_ID);
}
inline double wall_time_s() {
  return clock_s(CLOCK_MONOTONIC);
}

}  // namespace het::serving
