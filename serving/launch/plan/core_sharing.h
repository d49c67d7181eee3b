#pragma once

#include <cstddef>
#include <vector>

#include "inference/machine/topology.h"

namespace het::serving {

/// Neighbouring NUMA nodes, and the instances that share their cores.
struct CoreGroup {
  std::vector<size_t> numa_nodes;
  std::vector<PhysicalCore> cores;
  size_t instances = 1;
};

size_t processor_count(const std::vector<PhysicalCore>& cores);

/// The cores by NUMA nodes, in their order.
std::vector<CoreGroup> cores_by_node(const std::vector<PhysicalCore>& cores);

/// Gives each node as many instances as its processors are worth, one at least; where there are
/// fewer instances than nodes, each spans neighbouring ones, so that the largest is as small as can
/// be. There must be a processor for every instance.
std::vector<CoreGroup> group_nodes(std::vector<CoreGroup> nodes, size_t instances);

/// Cores of each instance of a group: whole ones that lie side by side, fast ones dealt evenly, and
/// economical ones so that numbers are even. Single hardware threads where instances are more than
/// cores.
std::vector<std::vector<PhysicalCore>> share_cores(const CoreGroup& group);

/// Deals threads out in proportion to processors, one each at least: the largest remainders are
/// rounded up. There must be no fewer than there are parts, and no more than processors.
std::vector<size_t> deal_threads(size_t threads, const std::vector<size_t>& processors);

}  // namespace het::serving
