#include "devices/cpu/loops/simd_target.h"

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/simd_target.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

const char* target_name() {
  // Newer Highways have further ones of AVX-512 (HWY_AVX3_ZEN4, HWY_AVX3_SPR), with smaller
  // numbers.
  if (HWY_TARGET <= HWY_AVX3) return "avx512";
  switch (HWY_TARGET) {
    case HWY_AVX2:
      return "avx2";
    case HWY_SSE4:
      return "sse4";
    case HWY_NEON:
#if defined(HWY_NEON_WITHOUT_AES)  // Highway 1.0.4 and newer
    case HWY_NEON_WITHOUT_AES:
#endif
#if defined(HWY_NEON_BF16)  // Highway 1.1 and newer
    case HWY_NEON_BF16:
#endif
      return "neon";
    default:
      return "simd";
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(target_name);

const char* simd_target() {
  return HWY_DYNAMIC_DISPATCH(target_name)();
}

}  // namespace het::cpu
#endif
