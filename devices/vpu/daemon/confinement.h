#pragma once

#include <cstdint>
#include <string>

#include "inference/base/status.h"

namespace het::vpu {

/// What is taken from the program before the first host connects.
struct Confinement {
  std::string user;           ///< to become; empty: as it is
  uint64_t memory_bytes = 0;  ///< of addresses that it may have (RLIMIT_AS); 0: no limit
  /// No further programs, sockets, files opened for writing, mounts, tracing of others or kernel
  /// modules (seccomp).
  bool filters_calls = false;
};

/// Fails with InvalidArgument for an unknown user, Internal where the system refuses.
Status confine(const Confinement& wanted);

}  // namespace het::vpu
