#pragma once

#include <chrono>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace het::cpu {

/// Tells the processor that this thread waits for another.
inline void relax() {
#if defined(__SSE2__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

/// Waits awake until `done` says so; false when that takes longer than `limit`.
template <class Done>
bool spin_for(std::chrono::nanoseconds limit, const Done& done) {
  using Clock = std::chrono::steady_clock;
  constexpr int kLooksPerClock = 32;
  if (done()) return true;
  const Clock::time_point end = Clock::now() + limit;
  do {
    for (int k = 0; k < kLooksPerClock; ++k) {
      relax();
      if (done()) return true;
    }
  } while (Clock::now() < end);
  return false;
}

}  // namespace het::cpu
