#pragma once

#include <cstddef>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"

namespace het {

/// Lets the calling thread, and threads and programs that it starts from now on, run on these
/// processors only. Fails with NotSupported when the system refuses, naming them.
HET_API Status bind_processors(const std::vector<int>& processors);

/// Lets the calling thread, and threads and programs that it starts from now on, take memory from
/// these NUMA nodes only; nothing happens on a machine that has one. Fails with NotSupported when
/// the system refuses (a container without the right to): memory then comes from the node that a
/// thread runs on while it has some.
HET_API Status bind_memory(const std::vector<size_t>& numa_nodes);

}  // namespace het
