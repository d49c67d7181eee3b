#pragma once

#include <cstdint>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace het::cpu {

/// Makes this thread, and threads that it starts, take float32 and float64 numbers below the normal
/// range for 0, as operands and as results (x86: FTZ and DAZ of MXCSR; AArch64: FZ of FPCR). On
/// processors that compute them in microcode, one such number costs as much as a hundred others.
inline void flush_subnormals() {
#if defined(__SSE2__)
  constexpr unsigned kFlushToZero = 0x8000;
  constexpr unsigned kDenormalsAreZero = 0x0040;
  _mm_setcsr(_mm_getcsr() | kFlushToZero | kDenormalsAreZero);
#elif defined(__aarch64__)
  constexpr uint64_t kFlushToZero = uint64_t{1} << 24;
  uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  asm volatile("msr fpcr, %0" : : "r"(control | kFlushToZero));
#endif
}

}  // namespace het::cpu
