#include "devices/cpu/threads/stream_placement.h"

#include <algorithm>
#include <map>

namespace het::cpu {
namespace {

/// Slots that are still free, by NUMA node.
class FreeSlots {
 public:
  explicit FreeSlots(const std::vector<Slot>& slots) : all_(slots) { refill(); }

  /// Slots of one node if one has `count` of them, else of several; fewer when all are given away.
  std::vector<Slot> take(size_t count) {
    std::vector<Slot> taken;
    while (taken.size() < count) {
      if (nodes_.empty()) {
        if (!taken.empty() && taken.size() >= all_.size()) break;
        refill();
      }
      const auto node = emptiest();
      const size_t wanted = std::min(count - taken.size(), node->second.size());
      std::move(node->second.begin(), node->second.begin() + static_cast<ptrdiff_t>(wanted),
                std::back_inserter(taken));
      node->second.erase(node->second.begin(),
                         node->second.begin() + static_cast<ptrdiff_t>(wanted));
      if (node->second.empty()) nodes_.erase(node);
    }
    return taken;
  }

 private:
  using Nodes = std::map<size_t, std::vector<Slot>>;

  void refill() {
    for (const Slot& slot : all_) nodes_[slot.numa_node].push_back(slot);
  }
  Nodes::iterator emptiest() {
    return std::max_element(nodes_.begin(), nodes_.end(), [](const auto& a, const auto& b) {
      return a.second.size() < b.second.size();
    });
  }

  const std::vector<Slot>& all_;
  Nodes nodes_;
};

std::vector<int> processors_of_nodes(const std::vector<Slot>& slots,
                                     const std::vector<Slot>& of_stream) {
  std::vector<int> processors;
  for (const Slot& slot : slots) {
    const bool same = std::ranges::any_of(
        of_stream, [&](const Slot& own) { return own.numa_node == slot.numa_node; });
    if (same) processors.push_back(slot.processor);
  }
  std::ranges::sort(processors);
  return processors;
}

}  // namespace

std::vector<Slot> make_slots(const std::vector<PhysicalCore>& cores, bool hyper_threads) {
  std::vector<Slot> slots;
  size_t most = 1;
  if (hyper_threads) {
    for (const PhysicalCore& core : cores) most = std::max(most, core.processors.size());
  }
  for (size_t thread = 0; thread < most; ++thread) {
    for (const CoreKind kind : {CoreKind::Performance, CoreKind::Efficiency}) {
      for (const PhysicalCore& core : cores) {
        if (core.kind != kind || thread >= core.processors.size()) continue;
        slots.push_back({core.processors[thread], core.numa_node});
      }
    }
  }
  return slots;
}

std::vector<TeamPlaces> place_streams(const std::vector<Slot>& slots, size_t streams,
                                      size_t threads, Binding binding) {
  std::vector<TeamPlaces> places(streams, TeamPlaces(threads));
  if (binding == Binding::None || slots.empty()) return places;
  FreeSlots free(slots);
  for (TeamPlaces& stream : places) {
    const std::vector<Slot> taken = free.take(threads);
    for (size_t t = 0; t < threads; ++t) {
      stream[t] = binding == Binding::Core ? std::vector<int>{taken[t % taken.size()].processor}
                                           : processors_of_nodes(slots, taken);
    }
  }
  return places;
}

}  // namespace het::cpu
