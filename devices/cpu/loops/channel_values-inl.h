// Vectors of channels of a pixel, float or bfloat16 in memory and float in registers. Included by
// loops after hwy/highway.h, once per instruction set.
#include <hwy/highway.h>

#include <cstdint>

#include "devices/cpu/loops/bfloat16-inl.h"

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
HWY_INLINE hn::Vec<D> load_channels(D d, const float* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> load_channels(D d, const uint16_t* from) {
  return load_bfloat16(d, from);
}

template <class D>
HWY_INLINE void store_channels(D d, hn::Vec<D> value, float* to) {
  hn::StoreU(value, d, to);
}
template <class D>
HWY_INLINE void store_channels(D d, hn::Vec<D> value, uint16_t* to) {
  hn::StoreU(to_bfloat16(d, value), hn::Rebind<uint16_t, D>(), to);
}

/// The same; bfloat16 by the instruction of processors that have it, where kNative.
template <bool kNative, class D, class T>
HWY_INLINE void store_channels_by(D d, hn::Vec<D> value, T* to) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (kNative && sizeof(T) == sizeof(uint16_t)) {
    return store_bfloat16_natively(d, value, to);
  }
#endif
  store_channels(d, value, to);
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
    return from_bfloat16(d, values);
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
    hn::BlendedStore(to_bfloat16(d, value), first, dt, to);
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
