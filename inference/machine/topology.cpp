#include "inference/machine/topology.h"

#include <hwloc.h>

#include <algorithm>
#include <memory>

#include "inference/machine/core_count.h"

namespace het {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using TopologyPtr = std::unique_ptr<hwloc_topology, DestroyTopology>;

struct FreeSet {
  void operator()(hwloc_bitmap_s* set) const { hwloc_bitmap_free(set); }
};
using SetPtr = std::unique_ptr<hwloc_bitmap_s, FreeSet>;

TopologyPtr load(const TopologySource& source) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  TopologyPtr topology(raw);
  // Caches and distances cost time and are not asked for.
  hwloc_topology_set_cache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  unsigned long flags = HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS;
  if (source.synthetic.empty()) {
    flags |= HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING;
  } else if (hwloc_topology_set_synthetic(raw, source.synthetic.c_str()) != 0) {
    return nullptr;
  }
  if (hwloc_topology_set_flags(raw, flags) != 0 || hwloc_topology_load(raw) != 0) return nullptr;
  if (!source.efficiency_processors.empty()) {
    const SetPtr efficient(hwloc_bitmap_alloc());
    const SetPtr fast(hwloc_bitmap_dup(hwloc_topology_get_topology_cpuset(raw)));
    hwloc_bitmap_list_sscanf(efficient.get(), source.efficiency_processors.c_str());
    hwloc_bitmap_andnot(fast.get(), fast.get(), efficient.get());
    hwloc_cpukinds_register(raw, efficient.get(), 0, 0, nullptr, 0);
    hwloc_cpukinds_register(raw, fast.get(), 1, 0, nullptr, 0);
  }
  return topology;
}

std::vector<int> members(hwloc_const_bitmap_t set) {
  std::vector<int> result;
  for (int i = hwloc_bitmap_first(set); i >= 0; i = hwloc_bitmap_next(set, i)) result.push_back(i);
  return result;
}

/// Kinds are ranked by efficiency where the processor tells them apart; the highest is the fastest.
CoreKind kind_of(hwloc_topology_t topology, hwloc_const_cpuset_t processors) {
  const int kinds = hwloc_cpukinds_get_nr(topology, 0);
  if (kinds < 2) return CoreKind::Performance;
  const int kind = hwloc_cpukinds_get_by_cpuset(topology, processors, 0);
  return kind >= 0 && kind < kinds - 1 ? CoreKind::Efficiency : CoreKind::Performance;
}

}  // namespace

Result<Topology> read_topology(const TopologySource& source) {
  const TopologyPtr loaded = load(source);
  if (loaded == nullptr) {
    return error(StatusCode::NotSupported, "hwloc cannot read the topology of {}",
                 source.synthetic.empty() ? "this machine" : source.synthetic);
  }
  Topology topology;
  size_t threads = 0;
  const auto add = [&](hwloc_obj_t object) {
    PhysicalCore core;
    const int node = object->nodeset != nullptr ? hwloc_bitmap_first(object->nodeset) : 0;
    core.numa_node = static_cast<size_t>(std::max(node, 0));
    core.kind = kind_of(loaded.get(), object->cpuset);
    core.processors = members(object->cpuset);
    threads += core.processors.size();
    if (!core.processors.empty()) topology.cores.push_back(std::move(core));
  };
  // Some virtual machines show processors without cores.
  const int cores = hwloc_get_nbobjs_by_type(loaded.get(), HWLOC_OBJ_CORE);
  const hwloc_obj_type_t type = cores > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  const int count = hwloc_get_nbobjs_by_type(loaded.get(), type);
  for (int i = 0; i < count; ++i) {
    add(hwloc_get_obj_by_type(loaded.get(), type, static_cast<unsigned>(i)));
  }
  if (topology.cores.empty()) {
    return error(StatusCode::NotSupported, "hwloc finds no core that this process may use");
  }
  std::ranges::stable_sort(topology.cores, {}, &PhysicalCore::numa_node);
  const size_t limit = source.max_threads > 0     ? source.max_threads
                       : source.synthetic.empty() ? usable_cores()
                                                  : threads;
  topology.max_threads = std::clamp<size_t>(limit, 1, threads);
  return topology;
}

}  // namespace het
