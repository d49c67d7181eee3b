#include "inference/tensors/memory_packing.h"

#include <gtest/gtest.h>

#include <random>

namespace het {
namespace {

TEST(MemoryPacking, PackedLifetimesDoNotOverlap) {
  std::mt19937 generator(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> lifetimes;
    for (int i = 0; i < 30; ++i) {
      const size_t first = generator() % 40;
      lifetimes.push_back({1 + generator() % 5000, first, first + generator() % 8});
    }
    const Packing packing = pack(lifetimes);
    size_t sum = 0;
    for (size_t a = 0; a < lifetimes.size(); ++a) {
      sum += lifetimes[a].bytes + 63;
      EXPECT_EQ(packing.offsets[a] % 64, 0u);
      EXPECT_LE(packing.offsets[a] + lifetimes[a].bytes, packing.bytes);
      for (size_t b = 0; b < a; ++b) {
        const bool together =
            lifetimes[a].first <= lifetimes[b].last && lifetimes[b].first <= lifetimes[a].last;
        const bool overlap = packing.offsets[a] < packing.offsets[b] + lifetimes[b].bytes &&
                             packing.offsets[b] < packing.offsets[a] + lifetimes[a].bytes;
        EXPECT_FALSE(together && overlap) << "round " << round;
      }
    }
    EXPECT_LT(packing.bytes, sum);
  }
}

TEST(MemoryPacking, OffsetsAreAligned) {
  const Packing packing = pack({{100, 0, 1}, {60, 1, 2}, {100, 2, 3}}, 128);
  EXPECT_EQ(packing.offsets, (std::vector<size_t>{0, 128, 0}));
  EXPECT_EQ(packing.bytes, 256u);
}

}  // namespace
}  // namespace het
