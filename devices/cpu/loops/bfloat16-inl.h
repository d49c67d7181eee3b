// Conversions of vectors between float and bfloat16, and what processors have instructions for.
// Included by loops after hwy/highway.h, once per instruction set.
#include <hwy/highway.h>

#include <cstdint>

#if defined(HET_BFLOAT16_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HET_BFLOAT16_INL_H
#undef HET_BFLOAT16_INL_H
#else
#define HET_BFLOAT16_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/// Of functions with arithmetic in bfloat16, which Highway 1.0 has not for x86. They may be called
/// where has_bfloat16_instructions().
#define HET_BFLOAT16_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))
#endif

/// Whether the processor rounds to bfloat16 and multiplies pairs of it by itself.
HWY_INLINE bool has_bfloat16_instructions() {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  static const bool has = __builtin_cpu_supports("avx512bf16") != 0;
  return has;
#else
  return false;
#endif
}

/// The floats of numbers of 16 bits.
template <class D>
HWY_INLINE hn::Vec<D> from_bfloat16(D d, hn::Vec<hn::Rebind<uint16_t, D>> halves) {
  const hn::RebindToUnsigned<D> bits;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(bits, halves)));
}

/// The floats of as many numbers of 16 bits at `src`.
template <class D>
HWY_INLINE hn::Vec<D> load_bfloat16(D d, const uint16_t* src) {
  return from_bfloat16(d, hn::LoadU(hn::Rebind<uint16_t, D>(), src));
}

/// The bits of `value`, of which the upper half is the nearest bfloat16, halves to even.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> round_to_upper(D, hn::Vec<D> value) {
  const hn::RebindToUnsigned<D> bits;
  const auto exact = hn::BitCast(bits, value);
  const auto even = hn::And(hn::ShiftRight<16>(exact), hn::Set(bits, 1));
  const auto rounded = hn::Add(hn::Add(exact, hn::Set(bits, 0x7FFF)), even);
  // The bits of a NaN could round to those of an infinity.
  const auto quiet = hn::Or(exact, hn::Set(bits, 0x400000));
  return hn::IfThenElse(hn::RebindMask(bits, hn::IsNaN(value)), quiet, rounded);
}

/// The nearest numbers of 16 bits.
template <class D>
HWY_INLINE hn::Vec<hn::Rebind<uint16_t, D>> to_bfloat16(D d, hn::Vec<D> value) {
  const hn::RebindToSigned<D> whole;
  const hn::Rebind<uint16_t, D> half;
  return hn::DemoteTo(half, hn::BitCast(whole, hn::ShiftRight<16>(round_to_upper(d, value))));
}

/// The same of two vectors, side by side.
template <class D>
HWY_INLINE void store_bfloat16_pair(D d, hn::Vec<D> low, hn::Vec<D> high, uint16_t* dst) {
#if HWY_TARGET == HWY_SCALAR
  const hn::Rebind<uint16_t, D> half;
  hn::StoreU(to_bfloat16(d, low), half, dst);
  hn::StoreU(to_bfloat16(d, high), half, dst + 1);
#else
  const hn::Repartition<uint16_t, D> pair;
  hn::StoreU(hn::ConcatOdd(pair, hn::BitCast(pair, round_to_upper(d, high)),
                           hn::BitCast(pair, round_to_upper(d, low))),
             pair, dst);
#endif
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/// The same by the instruction of processors with bfloat16, which takes subnormal numbers for 0 and
/// is not known to all compilers and Highways.
template <class D>
HWY_INLINE void store_bfloat16_pair_natively(D, hn::Vec<D> low, hn::Vec<D> high, uint16_t* dst) {
  const hn::Repartition<uint16_t, D> pair;
  hn::Vec<D> both;
  asm("vcvtne2ps2bf16 %[low], %[high], %[both]"
      : [both] "=v"(both.raw)
      : [low] "v"(low.raw), [high] "v"(high.raw));
  hn::StoreU(hn::BitCast(pair, both), pair, dst);
}

/// The same of one vector.
template <class D>
HWY_INLINE void store_bfloat16_natively(D, hn::Vec<D> value, uint16_t* dst) {
  const hn::Rebind<uint16_t, D> half;
  hn::Vec<decltype(half)> bits;
  asm("vcvtneps2bf16 %1, %0" : "=v"(bits.raw) : "v"(value.raw));
  hn::StoreU(bits, half, dst);
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#endif  // per instruction set
