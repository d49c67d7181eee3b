#include "devices/cpu/loops/simd_target.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdio>
#include <string>

namespace het {
namespace {

/// The best of the instruction sets that the loops are built for.
std::string best_target() {
#if HWY_ARCH_ARM_A64
  return "neon";
#else
  const int64_t supported = hwy::SupportedTargets();
  if ((supported & HWY_AVX3) != 0) return "avx512";
  if ((supported & HWY_AVX2) != 0) return "avx2";
  if ((supported & HWY_SSE4) != 0) return "sse4";
  return "simd";
#endif
}

TEST(SimdTarget, IsTheBestOfThisProcessor) {
  std::printf("the SIMD loops chose %s\n", cpu::simd_target());
  EXPECT_EQ(cpu::simd_target(), best_target());
}

}  // namespace
}  // namespace het
