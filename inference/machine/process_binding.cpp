#include "inference/machine/process_binding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwloc.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace het {
namespace {

struct DestroyMachine {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using MachinePtr = std::unique_ptr<hwloc_topology, DestroyMachine>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_s* set) const { hwloc_bitmap_free(set); }
};
using BitmapPtr = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

/// This machine, whatever HWLOC_ variables of the environment describe.
MachinePtr load_machine() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  MachinePtr machine(raw);
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM);
  return hwloc_topology_load(raw) == 0 ? std::move(machine) : nullptr;
}

template <class Numbers>
BitmapPtr bitmap(const Numbers& numbers) {
  BitmapPtr set(hwloc_bitmap_alloc());
  for (const auto number : numbers) hwloc_bitmap_set(set.get(), static_cast<unsigned>(number));
  return set;
}

Failure refused(std::string_view what, const std::string& numbers) {
  return error(StatusCode::NotSupported, "cannot bind this process to {} {}: {}", what, numbers,
               std::strerror(errno));
}

}  // namespace

Status bind_processors(const std::vector<int>& processors) {
  const MachinePtr machine = load_machine();
  const BitmapPtr set = bitmap(processors);
  const bool is_bound =
      machine && hwloc_set_cpubind(machine.get(), set.get(), HWLOC_CPUBIND_THREAD) == 0;
  return is_bound ? Status() : refused("processors", fmt::format("{}", fmt::join(processors, ",")));
}

Status bind_memory(const std::vector<size_t>& numa_nodes) {
  const MachinePtr machine = load_machine();
  if (machine && hwloc_get_nbobjs_by_type(machine.get(), HWLOC_OBJ_NUMANODE) < 2) return {};
  const BitmapPtr set = bitmap(numa_nodes);
  // Without STRICT hwloc only lets the kernel prefer them.
  constexpr int kFlags = HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_STRICT | HWLOC_MEMBIND_BYNODESET;
  const bool is_bound =
      machine && hwloc_set_membind(machine.get(), set.get(), HWLOC_MEMBIND_BIND, kFlags) == 0;
  return is_bound ? Status()
                  : refused("memory of NUMA nodes", fmt::format("{}", fmt::join(numa_nodes, ",")));
}

}  // namespace het
