#pragma once

#include <alloca.h>

#include <cstddef>
#include <cstdint>

namespace het::cpu {

inline constexpr size_t kPageBytes = 4096;
/// Where in its page the stack of a layer's call begins.
inline constexpr size_t kStackPhase = 1792;

/// Calls `run` with the stack pointer within 64 bytes below kStackPhase of a page, whatever the
/// depth of the caller. oneDNN's kernels keep vectors on the stack while they evaluate an
/// activation. A vector that lies across two pages then costs some 60 cycles each time: three of
/// the 256 possible places made yolox_nano 1.4 times slower, another three MobileNetV2 int8 1.55
/// times, and which place it is changed with every unrelated edit above this call. The bad places
/// that were found are at 3264 and 3648 (oneDNN 2.6).
template <class Run>
[[gnu::noinline]] auto at_stack_phase(Run&& run) {
  const auto here = reinterpret_cast<uintptr_t>(alloca(16));
  void* const padding = alloca((here - kStackPhase) % kPageBytes);
  asm volatile("" : : "r"(padding) : "memory");  // kept, and before the call
  return run();
}

}  // namespace het::cpu
