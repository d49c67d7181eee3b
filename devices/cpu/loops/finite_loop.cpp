#include "devices/cpu/loops/finite_loop.h"

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/finite_loop.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// NaN and infinities have all bits of the exponent.
template <class T>
HWY_INLINE bool all_below(const T* bits, size_t count, T exponent) {
  const hn::ScalableTag<T> d;
  const auto all = hn::Set(d, exponent);
  const size_t lanes = hn::Lanes(d);
  auto found = hn::Zero(d);
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    for (size_t k = 0; k < 4; ++k) {
      const auto part = hn::And(hn::LoadU(d, bits + i + k * lanes), all);
      found = hn::Or(found, hn::VecFromMask(d, hn::Eq(part, all)));
    }
  }
  bool is_found = !hn::AllTrue(d, hn::Eq(found, hn::Zero(d)));
  for (; i < count; ++i) is_found |= (bits[i] & exponent) == exponent;
  return !is_found;
}

bool all_below16(const uint16_t* bits, size_t count, uint16_t exponent) {
  return all_below(bits, count, exponent);
}
bool all_below32(const uint32_t* bits, size_t count, uint32_t exponent) {
  return all_below(bits, count, exponent);
}
bool all_below64(const uint64_t* bits, size_t count, uint64_t exponent) {
  return all_below(bits, count, exponent);
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(all_below16);
HWY_EXPORT(all_below32);
HWY_EXPORT(all_below64);

bool all_finite_float32(const uint32_t* bits, size_t count) {
  return HWY_DYNAMIC_DISPATCH(all_below32)(bits, count, 0x7F800000u);
}

bool all_finite_float16(const uint16_t* bits, size_t count) {
  return HWY_DYNAMIC_DISPATCH(all_below16)(bits, count, 0x7C00u);
}

bool all_finite_bfloat16(const uint16_t* bits, size_t count) {
  return HWY_DYNAMIC_DISPATCH(all_below16)(bits, count, 0x7F80u);
}

bool all_finite_float64(const uint64_t* bits, size_t count) {
  return HWY_DYNAMIC_DISPATCH(all_below64)(bits, count, uint64_t{0x7FF} << 52);
}

}  // namespace het::cpu
#endif
