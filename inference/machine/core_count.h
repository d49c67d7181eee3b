#pragma once

#include <cstddef>
#include <string>

#include "inference/base/visibility.h"

namespace het {

/// Where the limits of this process are read; other places for tests.
struct CoreSources {
  size_t affinity_cores = 0;  ///< 0: asks the kernel for the process' affinity mask
  std::string cgroup_root = "/sys/fs/cgroup";
  std::string process_cgroup = "/proc/self/cgroup";
};

/// Threads that can run at the same time in this process: the affinity mask, cut to the CPU quota
/// of its control group (versions 1 and 2) and of those around it; 1.5 CPUs count as 1. At least 1.
HET_API size_t usable_cores(const CoreSources& sources = {});

}  // namespace het
