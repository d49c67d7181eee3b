#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"

namespace het {

/// Hybrid processors have fast cores and economical ones; all others have fast ones only.
enum class CoreKind { Performance, Efficiency };

/// A physical core, as far as this process may use it.
struct PhysicalCore {
  size_t numa_node = 0;
  CoreKind kind = CoreKind::Performance;
  std::vector<int> processors;  ///< the kernel's numbers of its hardware threads, ascending
};

/// What this process may use of the machine.
struct Topology {
  std::vector<PhysicalCore> cores;  ///< by NUMA node, then by number
  /// Threads that may run at the same time: hardware threads, cut to the control groups' quota.
  size_t max_threads = 1;
};

/// Where the topology comes from; other places for tests.
struct TopologySource {
  /// hwloc's description of a machine, such as "numa:2 core:4 pu:2"; empty: this machine.
  std::string synthetic;
  /// Processors of efficiency cores of a synthetic machine, such as "4-7".
  std::string efficiency_processors;
  /// Threads that the control groups allow; 0: asks usable_cores().
  size_t max_threads = 0;
};

/// Reads cores, NUMA nodes and kinds of cores with hwloc, without those that the affinity mask of
/// this process leaves out. Fails with NotSupported when hwloc cannot.
HET_API Result<Topology> read_topology(const TopologySource& source = {});

}  // namespace het
