#include "inference/tensors/memory_packing.h"

#include <algorithm>
#include <numeric>

namespace het {

Packing pack(const std::vector<Lifetime>& lifetimes, size_t alignment) {
  const auto aligned = [&](size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  };
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  Packing packing;
  packing.offsets.assign(lifetimes.size(), 0);
  std::vector<size_t> placed;  // by offset
  for (const size_t i : order) {
    const Lifetime& life = lifetimes[i];
    size_t offset = 0;
    for (const size_t other : placed) {
      const Lifetime& taken = lifetimes[other];
      if (taken.last < life.first || life.last < taken.first) continue;
      if (offset + life.bytes <= packing.offsets[other]) break;
      offset = std::max(offset, aligned(packing.offsets[other] + taken.bytes));
    }
    packing.offsets[i] = offset;
    packing.bytes = std::max(packing.bytes, aligned(offset + life.bytes));
    const auto position = std::find_if(placed.begin(), placed.end(), [&](size_t other) {
      return packing.offsets[other] > offset;
    });
    placed.insert(position, i);
  }
  return packing;
}

}  // namespace het
