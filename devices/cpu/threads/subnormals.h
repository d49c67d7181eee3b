#pragma once

#include <cstdint>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace het::cpu {

/// While this lives, this thread takes float32 and float64 numbers below the normal range for 0, as
/// operands and as results (x86: FTZ and DAZ of MXCSR; AArch64: FZ of FPCR), and so do threads that
/// it starts. On processors that compute them in microcode, one such number costs as much as a
/// hundred others.
class SubnormalsScope {
 public:
  SubnormalsScope() : before_(read()) { write(before_ | kFlush); }
  ~SubnormalsScope() { write(before_); }
  SubnormalsScope(const SubnormalsScope&) = delete;
  SubnormalsScope& operator=(const SubnormalsScope&) = delete;

 private:
#if defined(__SSE2__)
  static constexpr uint64_t kFlush = 0x8000 | 0x0040;
  static uint64_t read() {
    return _mm_getcsr();
  }
  static void write(uint64_t control) {
    _mm_setcsr(static_cast<unsigned>(control));
  }
#elif defined(__aarch64__)
  static constexpr uint64_t kFlush = uint64_t{1} << 24;
  static uint64_t read() {
    uint64_t control = 0;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    return control;
  }
  static void write(uint64_t control) {
    asm volatile("msr fpcr, %0" : : "r"(control));
  }
#else
  static constexpr uint64_t kFlush = 0;
  static uint64_t read() {
    return 0;
  }
  static void write(uint64_t) {}
#endif

  const uint64_t before_;
};

}  // namespace het::cpu
