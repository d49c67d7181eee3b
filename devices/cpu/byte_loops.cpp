#include "devices/cpu/byte_loops.h"

#include <algorithm>
#include <cmath>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/byte_loops.cpp"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

template <class T>
HWY_INLINE V load(D d, const T* src) {
  const hn::Rebind<T, D> bytes;
  const hn::Rebind<int32_t, D> wide;
  return hn::ConvertTo(d, hn::PromoteTo(wide, hn::LoadU(bytes, src)));
}

template <class T>
HWY_INLINE void store(D d, V value, const ByteScale& scale, T* dst) {
  const hn::Rebind<T, D> bytes;
  // Limited before the conversion: every value fits into an int32 then.
  const V low = hn::Set(d, (scale.is_signed ? -128.0f : 0.0f) - scale.zero);
  const V high = hn::Set(d, (scale.is_signed ? 127.0f : 255.0f) - scale.zero);
  const V rounded = hn::Round(hn::Min(hn::Max(value, low), high));
  const auto sum = hn::Add(rounded, hn::Set(d, scale.zero));
  hn::StoreU(hn::DemoteTo(bytes, hn::NearestInt(sum)), bytes, dst);
}

template <class T>
HWY_INLINE float real(const T* src, const ByteScale& scale) {
  return (static_cast<float>(*src) - scale.zero) * scale.scale;
}

template <class T>
HWY_INLINE T stored(float value, const ByteScale& scale) {
  const float low = (scale.is_signed ? -128.0f : 0.0f) - scale.zero;
  const float high = (scale.is_signed ? 127.0f : 255.0f) - scale.zero;
  const float limited = std::min(std::max(value, low), high);
  return static_cast<T>(static_cast<int32_t>(std::nearbyint(limited) + scale.zero));
}

template <class T>
void quantise_typed(const float* src, const ByteScale& scale, size_t count, T* dst) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V divisor = hn::Set(d, scale.scale);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    store(d, hn::Div(hn::LoadU(d, src + i), divisor), scale, dst + i);
  }
  for (; i < count; ++i) dst[i] = stored<T>(src[i] / scale.scale, scale);
}

template <class T>
void quantise_channels_typed(const float* src, const float* scales, const ByteScale& scale,
                             size_t channels, size_t rows, T* dst) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  for (size_t row = 0; row < rows; ++row, src += channels, dst += channels) {
    size_t i = 0;
    for (; i + lanes <= channels; i += lanes) {
      store(d, hn::Div(hn::LoadU(d, src + i), hn::LoadU(d, scales + i)), scale, dst + i);
    }
    for (; i < channels; ++i) dst[i] = stored<T>(src[i] / scales[i], scale);
  }
}

template <class T>
void dequantise_typed(const T* src, const ByteScale& scale, size_t count, float* dst) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V zero = hn::Set(d, scale.zero);
  const V factor = hn::Set(d, scale.scale);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::Mul(hn::Sub(load(d, src + i), zero), factor), d, dst + i);
  }
  for (; i < count; ++i) dst[i] = real(src + i, scale);
}

template <class T>
void add_typed(const T* a, const ByteScale& a_scale, const T* b, const ByteScale& b_scale,
               const ByteScale& dst_scale, size_t count, T* dst) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V x =
        hn::Mul(hn::Sub(load(d, a + i), hn::Set(d, a_scale.zero)), hn::Set(d, a_scale.scale));
    const V y =
        hn::Mul(hn::Sub(load(d, b + i), hn::Set(d, b_scale.zero)), hn::Set(d, b_scale.scale));
    store(d, hn::Div(hn::Add(x, y), hn::Set(d, dst_scale.scale)), dst_scale, dst + i);
  }
  for (; i < count; ++i) {
    dst[i] = stored<T>((real(a + i, a_scale) + real(b + i, b_scale)) / dst_scale.scale, dst_scale);
  }
}

void quantise(const float* src, const ByteScale& scale, size_t count, std::byte* dst) {
  if (scale.is_signed) {
    return quantise_typed(src, scale, count, reinterpret_cast<int8_t*>(dst));
  }
  quantise_typed(src, scale, count, reinterpret_cast<uint8_t*>(dst));
}

void quantise_each(const float* src, const float* scales, const ByteScale& scale, size_t channels,
                   size_t rows, std::byte* dst) {
  if (scale.is_signed) {
    return quantise_channels_typed(src, scales, scale, channels, rows,
                                   reinterpret_cast<int8_t*>(dst));
  }
  quantise_channels_typed(src, scales, scale, channels, rows, reinterpret_cast<uint8_t*>(dst));
}

void dequantise(const std::byte* src, const ByteScale& scale, size_t count, float* dst) {
  if (scale.is_signed) {
    return dequantise_typed(reinterpret_cast<const int8_t*>(src), scale, count, dst);
  }
  dequantise_typed(reinterpret_cast<const uint8_t*>(src), scale, count, dst);
}

void add(const std::byte* a, const ByteScale& a_scale, const std::byte* b, const ByteScale& b_scale,
         const ByteScale& dst_scale, size_t count, std::byte* dst) {
  if (dst_scale.is_signed) {
    return add_typed(reinterpret_cast<const int8_t*>(a), a_scale,
                     reinterpret_cast<const int8_t*>(b), b_scale, dst_scale, count,
                     reinterpret_cast<int8_t*>(dst));
  }
  add_typed(reinterpret_cast<const uint8_t*>(a), a_scale, reinterpret_cast<const uint8_t*>(b),
            b_scale, dst_scale, count, reinterpret_cast<uint8_t*>(dst));
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(quantise);
HWY_EXPORT(quantise_each);
HWY_EXPORT(dequantise);
HWY_EXPORT(add);

void quantise_row(const float* src, const ByteScale& scale, size_t count, std::byte* dst) {
  HWY_DYNAMIC_DISPATCH(quantise)(src, scale, count, dst);
}

void quantise_channels(const float* src, const float* scales, const ByteScale& scale,
                       size_t channels, size_t rows, std::byte* dst) {
  HWY_DYNAMIC_DISPATCH(quantise_each)(src, scales, scale, channels, rows, dst);
}

void dequantise_row(const std::byte* src, const ByteScale& scale, size_t count, float* dst) {
  HWY_DYNAMIC_DISPATCH(dequantise)(src, scale, count, dst);
}

void add_rows(const std::byte* a, const ByteScale& a_scale, const std::byte* b,
              const ByteScale& b_scale, const ByteScale& dst_scale, size_t count, std::byte* dst) {
  HWY_DYNAMIC_DISPATCH(add)(a, a_scale, b, b_scale, dst_scale, count, dst);
}

}  // namespace het::cpu
#endif
