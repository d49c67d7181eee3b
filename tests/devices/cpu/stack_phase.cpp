#include <alloca.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "devices/cpu/threads/stack_phase.h"

namespace het::cpu {
namespace {

[[gnu::noinline]] uintptr_t own_stack_place() {
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
}

/// The place of a called function's frame, with `depth` bytes more on the stack.
[[gnu::noinline]] uintptr_t place_below(size_t depth) {
  void* const more = alloca(depth);
  asm volatile("" : : "r"(more) : "memory");
  return at_stack_phase([] { return own_stack_place(); });
}

TEST(StackPhase, IsTheSameAtEveryDepthOfTheCaller) {
  for (size_t depth = 16; depth < 3 * kPageBytes; depth += 16) {
    const size_t below = (kStackPhase - place_below(depth)) % kPageBytes;
    // The frames of the call itself: 176 bytes without optimisation and under AddressSanitizer.
    EXPECT_LT(below, 256u) << "with " << depth << " bytes more";
  }
}

}  // namespace
}  // namespace het::cpu
