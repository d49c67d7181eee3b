// Products of unsigned bytes and signed weights, added to 32-bit sums. Included by own int8 loops
// after hwy/foreach_target.h, once per instruction set.
#include <cstdint>

#include <hwy/highway.h>

#include "devices/cpu/loops/byte_term_loops.h"
#include "devices/cpu/loops/int8_tail-inl.h"

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

#if defined(HET_BYTE_DOTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HET_BYTE_DOTS_INL_H
#undef HET_BYTE_DOTS_INL_H
#else
#define HET_BYTE_DOTS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// True where ByteDot::Quads is one instruction: of AVX-VNNI, or of AVX-512 with VNNI.
HWY_INLINE bool has_dot_of_quads() {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  // Intel SDM, CPUID: leaf 7, subleaf 0, ECX bit 11 (AVX512_VNNI); subleaf 1, EAX bit 4 (AVX-VNNI).
  // That the system keeps the registers is known from the instruction set that was chosen.
  static const bool has_instruction = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (HWY_TARGET <= HWY_AVX3) {
      return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c >> 11 & 1U) != 0;
    }
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1U) != 0;
  }();
  return has_instruction;
#else
  return false;
#endif
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
HWY_INLINE SumVector load_weights(const int8_t* from) {
  return hn::BitCast(SumTag(), hn::LoadU(hn::Repartition<int8_t, SumTag>(), from));
}

/// bytes[2i] * weights[2i] + bytes[2i + 1] * weights[2i + 1], which saturates.
HWY_INLINE WideVector times_bytes(SumVector bytes, SumVector weights) {
#if HWY_TARGET <= HWY_AVX3
  return WideVector{_mm512_maddubs_epi16(bytes.raw, weights.raw)};
#elif HWY_TARGET == HWY_AVX2
  return WideVector{_mm256_maddubs_epi16(bytes.raw, weights.raw)};
#else
  return WideVector{_mm_maddubs_epi16(bytes.raw, weights.raw)};
#endif
}

HWY_INLINE SumVector add_sums(WideVector wide, SumVector sums) {
  const SumTag d;
  auto unused = hn::Zero(d);
  return hn::ReorderWidenMulAccumulate(d, wide, hn::Set(WideTag(), int16_t{1}), sums, unused);
}

/// The exact sum, as vpdpbusd has it: even and odd bytes as 16-bit values, whose products do not
/// saturate.
HWY_INLINE SumVector add_widened_quads(SumVector bytes, SumVector weights, SumVector sums) {
  const SumTag d;
  const WideTag wide;
  const auto of_weights = hn::BitCast(wide, weights);
  const hn::RebindToUnsigned<WideTag> unsigned_wide;
  const auto of_bytes = hn::BitCast(unsigned_wide, bytes);
  const auto low = hn::BitCast(wide, hn::And(of_bytes, hn::Set(unsigned_wide, uint16_t{255})));
  const auto high = hn::BitCast(wide, hn::ShiftRight<8>(of_bytes));
  auto unused = hn::Zero(d);
  sums = hn::ReorderWidenMulAccumulate(d, low, hn::ShiftRight<8>(hn::ShiftLeft<8>(of_weights)),
                                       sums, unused);
  return hn::ReorderWidenMulAccumulate(d, high, hn::ShiftRight<8>(of_weights), sums, unused);
}

/// Adds the four products of each sum. Those by pairs have to fit in 16 bits.
template <ByteDot kDot>
HWY_INLINE SumVector add_quads(SumVector bytes, SumVector weights, SumVector sums) {
  if constexpr (kDot == ByteDot::Pairs) {
    return add_sums(times_bytes(bytes, weights), sums);
  } else if constexpr (kDot == ByteDot::EmulatedQuads) {
    return add_widened_quads(bytes, weights, sums);
  } else {
    // Compilers have it in functions for instruction sets that have it only, which these are not.
#if HWY_TARGET <= HWY_AVX3
    asm("vpdpbusd %2, %1, %0" : "+v"(sums.raw) : "v"(bytes.raw), "v"(weights.raw));
    return sums;
#elif HWY_TARGET == HWY_AVX2
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums.raw) : "x"(bytes.raw), "x"(weights.raw));
    return sums;
#else
    return add_widened_quads(bytes, weights, sums);
#endif
  }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#endif  // HET_BYTE_DOTS_INL_H
