// Vectors of channels of a pixel, float or bfloat16 in memory and float in registers. Included by
// loops after hwy/highway.h, once per instruction set.
#include <hwy/highway.h>

#include <cstdint>

#if defined(HET_CHANNEL_VALUES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HET_CHANNEL_VALUES_INL_H
#undef HET_CHANNEL_VALUES_INL_H
#else
#define HET_CHANNEL_VALUES_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Masked accesses leave what is masked alone here: they do not fault at the end of a tensor.
#define HET_MASKS_ARE_EXACT (HWY_TARGET <= HWY_AVX3)

template <class D>
HWY_INLINE hn::Vec<D> widened(D d, hn::Vec<hn::Rebind<uint16_t, D>> bits) {
  const hn::RebindToUnsigned<D> wide;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(wide, bits)));
}

/// The bits of bfloat16: to the nearest, halves to even; NaN does not become infinite.
template <class D>
HWY_INLINE hn::Vec<hn::Rebind<uint16_t, D>> narrowed(D, hn::Vec<D> value) {
  const hn::RebindToUnsigned<D> wide;
  const hn::Rebind<uint16_t, D> half;
  const auto bits = hn::BitCast(wide, value);
  const auto even = hn::And(hn::ShiftRight<16>(bits), hn::Set(wide, 1));
  const auto rounded = hn::Add(bits, hn::Add(even, hn::Set(wide, 0x7FFF)));
  const auto quiet = hn::Or(bits, hn::Set(wide, 0x400000));
  const auto is_number = hn::RebindMask(wide, hn::Eq(value, value));
  const auto upper = hn::ShiftRight<16>(hn::IfThenElse(is_number, rounded, quiet));
  return hn::DemoteTo(half, hn::BitCast(hn::RebindToSigned<D>(), upper));
}

template <class D>
HWY_INLINE hn::Vec<D> load_channels(D d, const float* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> load_channels(D d, const uint16_t* from) {
  return widened(d, hn::LoadU(hn::Rebind<uint16_t, D>(), from));
}

template <class D>
HWY_INLINE void store_channels(D d, hn::Vec<D> value, float* to) {
  hn::StoreU(value, d, to);
}
template <class D>
HWY_INLINE void store_channels(D d, hn::Vec<D> value, uint16_t* to) {
  hn::StoreU(narrowed(d, value), hn::Rebind<uint16_t, D>(), to);
}

/// The first `count` channels, fewer than the lanes; zeros behind them. Reads nothing else.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_first_channels(D d, const T* from, int64_t count) {
#if HET_MASKS_ARE_EXACT
  const hn::Rebind<T, D> dt;
  const auto values = hn::MaskedLoad(hn::FirstN(dt, static_cast<size_t>(count)), dt, from);
  if constexpr (sizeof(T) == sizeof(float)) {
    return values;
  } else {
    return widened(d, values);
  }
#else
  HWY_ALIGN T values[hn::MaxLanes(D())] = {};
  for (int64_t i = 0; i < count; ++i) values[i] = from[i];
  return load_channels(d, values);
#endif
}

/// Writes the first `count` lanes and nothing else.
template <class D, class T>
HWY_INLINE void store_first_channels(D d, hn::Vec<D> value, T* to, int64_t count) {
#if HET_MASKS_ARE_EXACT
  const hn::Rebind<T, D> dt;
  const auto first = hn::FirstN(dt, static_cast<size_t>(count));
  if constexpr (sizeof(T) == sizeof(float)) {
    hn::BlendedStore(value, first, dt, to);
  } else {
    hn::BlendedStore(narrowed(d, value), first, dt, to);
  }
#else
  HWY_ALIGN T values[hn::MaxLanes(D())];
  store_channels(d, value, values);
  for (int64_t i = 0; i < count; ++i) to[i] = values[i];
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#endif  // per instruction set
