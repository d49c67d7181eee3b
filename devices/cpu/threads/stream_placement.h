#pragma once

#include <cstddef>
#include <vector>

#include "inference/machine/topology.h"

namespace het::cpu {

/// What a thread of a stream is bound to.
enum class Binding {
  None,
  NumaNode,  ///< the NUMA nodes of the stream's cores
  Core,      ///< one hardware thread
};

/// Processors that each thread of one stream's team may run on; empty: any.
using TeamPlaces = std::vector<std::vector<int>>;

/// Hardware threads that streams are laid on, in the order in which they are given away.
struct Slot {
  int processor = 0;
  size_t numa_node = 0;
};

/// One slot per core, then (with `hyper_threads`) the cores' other hardware threads; fast cores
/// first.
std::vector<Slot> make_slots(const std::vector<PhysicalCore>& cores, bool hyper_threads);

/// Lays `streams` teams of `threads` threads on the slots: a stream stays on one NUMA node where
/// that has room for it, the emptiest first; when more threads are wanted than there are slots,
/// slots are given away again. Every stream has `threads` entries.
std::vector<TeamPlaces> place_streams(const std::vector<Slot>& slots, size_t streams,
                                      size_t threads, Binding binding);

}  // namespace het::cpu
