#include "devices/cpu/loops/byte_loops.h"

#include <algorithm>
#include <cmath>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/byte_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/byte_values-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

template <class T>
HWY_INLINE float real(const T* src, const ByteScale& scale) {
  return (static_cast<float>(*src) - scale.zero) * scale.scale;
}

template <class T>
HWY_INLINE T stored(float value, const ByteScale& scale) {
  const float low = (scale.is_signed ? -128.0f : 0.0f) - scale.zero;
  const float high = (scale.is_signed ? 127.0f : 255.0f) - scale.zero;
  const float limited = std::isnan(value) ? 0.0f : std::min(std::max(value, low), high);
  return static_cast<T>(static_cast<int32_t>(std::nearbyint(limited) + scale.zero));
}

template <class T>
void quantise_typed(const float* src, const ByteScale& scale, size_t count, T* dst) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const ByteStore<T> store(d, scale);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) store.divided(d, hn::LoadU(d, src + i), dst + i);
  for (; i < count; ++i) dst[i] = stored<T>(src[i] / scale.scale, scale);
}

template <class T>
void quantise_channels_typed(const float* src, const ChannelSteps& steps, size_t count, T* dst) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t channel = 0;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    ByteStore<T>(d, steps, channel).divided(d, hn::LoadU(d, src + i), dst + i);
    channel += lanes;
    while (channel >= steps.channels) channel -= steps.channels;
  }
  for (; i < count; ++i) {
    const ByteScale scale = {steps.scales[channel], steps.zeros[channel], steps.is_signed};
    dst[i] = stored<T>(src[i] / scale.scale, scale);
    if (++channel == steps.channels) channel = 0;
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
    hn::StoreU(hn::Mul(hn::Sub(load_bytes(d, src + i), zero), factor), d, dst + i);
  }
  for (; i < count; ++i) dst[i] = real(src + i, scale);
}

template <class T>
void add_typed(const T* a, const ByteScale& a_scale, const T* b, const ByteScale& b_scale,
               const ByteScale& dst_scale, size_t count, T* dst) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const ByteStore<T> store(d, dst_scale);
  const V a_zero = hn::Set(d, a_scale.zero);
  const V a_factor = hn::Set(d, a_scale.scale);
  const V b_zero = hn::Set(d, b_scale.zero);
  const V b_factor = hn::Set(d, b_scale.scale);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V x = hn::Mul(hn::Sub(load_bytes(d, a + i), a_zero), a_factor);
    const V y = hn::Mul(hn::Sub(load_bytes(d, b + i), b_zero), b_factor);
    store.divided(d, hn::Add(x, y), dst + i);
  }
  for (; i < count; ++i) {
    dst[i] = stored<T>((real(a + i, a_scale) + real(b + i, b_scale)) / dst_scale.scale, dst_scale);
  }
}

/// Gates that rows of few channels are repeated to.
constexpr size_t kGateValues = 64;

template <class T, class U>
void gate_typed(const T* src, const ByteScale& scale, const float* gates,
                const ByteScale& dst_scale, size_t channels, size_t rows, U* dst) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V zero = hn::Set(d, scale.zero);
  const V factor = hn::Set(d, scale.scale);
  const ByteStore<U> store(d, dst_scale);
  // Rows of few channels several at a time: their gates follow each other.
  const size_t joined = std::min(rows, kGateValues / channels);
  HWY_ALIGN float repeated[kGateValues];
  if (joined > 1) {
    for (size_t row = 0; row < joined; ++row) {
      std::copy_n(gates, channels, repeated + row * channels);
    }
    const size_t many = rows / joined;
    gate_typed(src, scale, repeated, dst_scale, channels * joined, many, dst);
    src += many * joined * channels;
    dst += many * joined * channels;
    rows %= joined;
  }
  for (size_t row = 0; row < rows; ++row, src += channels, dst += channels) {
    size_t i = 0;
    for (; i + lanes <= channels; i += lanes) {
      const V x = hn::Mul(hn::Sub(load_bytes(d, src + i), zero), factor);
      store.divided(d, hn::Mul(x, hn::LoadU(d, gates + i)), dst + i);
    }
    for (; i < channels; ++i) {
      dst[i] = stored<U>(real(src + i, scale) * gates[i] / dst_scale.scale, dst_scale);
    }
  }
}

void gate(const std::byte* src, const ByteScale& scale, const float* gates,
          const ByteScale& dst_scale, size_t channels, size_t rows, std::byte* dst) {
  const auto with = [&](const auto* values) {
    if (dst_scale.is_signed) {
      return gate_typed(values, scale, gates, dst_scale, channels, rows,
                        reinterpret_cast<int8_t*>(dst));
    }
    gate_typed(values, scale, gates, dst_scale, channels, rows, reinterpret_cast<uint8_t*>(dst));
  };
  if (scale.is_signed) return with(reinterpret_cast<const int8_t*>(src));
  with(reinterpret_cast<const uint8_t*>(src));
}

template <class T>
void mean_typed(const T* src, const ByteScale& scale, size_t channels, size_t step, size_t rows,
                float* dst) {
  const D d;
  const hn::Rebind<T, D> bytes;
  const hn::Rebind<int32_t, D> wide;
  const size_t lanes = hn::Lanes(d);
  const auto mean = [&](int32_t sum) {
    const double pixels = static_cast<double>(rows);
    return static_cast<float>((sum / pixels - static_cast<double>(scale.zero)) *
                              static_cast<double>(scale.scale));
  };
  size_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    auto even = hn::Zero(wide);
    auto odd = hn::Zero(wide);
    const T* from = src + c;
    size_t row = 0;
    for (; row + 2 <= rows; row += 2, from += 2 * step) {
      even = hn::Add(even, hn::PromoteTo(wide, hn::LoadU(bytes, from)));
      odd = hn::Add(odd, hn::PromoteTo(wide, hn::LoadU(bytes, from + step)));
    }
    if (row < rows) even = hn::Add(even, hn::PromoteTo(wide, hn::LoadU(bytes, from)));
    HWY_ALIGN int32_t sums[hn::MaxLanes(d)];
    hn::Store(hn::Add(even, odd), wide, sums);
    for (size_t k = 0; k < lanes; ++k) dst[c + k] = mean(sums[k]);
  }
  for (; c < channels; ++c) {
    int32_t sum = 0;
    for (size_t row = 0; row < rows; ++row) sum += src[row * step + c];
    dst[c] = mean(sum);
  }
}

void mean_of(const std::byte* src, const ByteScale& scale, size_t channels, size_t step,
             size_t rows, float* dst) {
  if (scale.is_signed) {
    return mean_typed(reinterpret_cast<const int8_t*>(src), scale, channels, step, rows, dst);
  }
  mean_typed(reinterpret_cast<const uint8_t*>(src), scale, channels, step, rows, dst);
}

void quantise(const float* src, const ByteScale& scale, size_t count, std::byte* dst) {
  if (scale.is_signed) {
    return quantise_typed(src, scale, count, reinterpret_cast<int8_t*>(dst));
  }
  quantise_typed(src, scale, count, reinterpret_cast<uint8_t*>(dst));
}

void quantise_each(const float* src, const ChannelSteps& steps, size_t count, std::byte* dst) {
  if (steps.is_signed) {
    return quantise_channels_typed(src, steps, count, reinterpret_cast<int8_t*>(dst));
  }
  quantise_channels_typed(src, steps, count, reinterpret_cast<uint8_t*>(dst));
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
HWY_EXPORT(gate);
HWY_EXPORT(mean_of);

void quantise_row(const float* src, const ByteScale& scale, size_t count, std::byte* dst) {
  HWY_DYNAMIC_DISPATCH(quantise)(src, scale, count, dst);
}

ChannelSteps::ChannelSteps(std::span<const float> channel_scales,
                           std::span<const float> channel_zeros, bool with_sign)
    : channels(channel_scales.size()), is_signed(with_sign) {
  constexpr size_t kLongestVector = 64;
  for (size_t i = 0; i < channels + kLongestVector; ++i) {
    const float scale = channel_scales[i % channels];
    scales.push_back(scale);
    // Below this the reciprocal is not finite.
    const bool has_inverse = scale > 1e-37f;
    inverses.push_back(has_inverse ? 1.0f / scale : 0.0f);
    divides = divides || !has_inverse;
    zeros.push_back(channel_zeros[channel_zeros.size() == 1 ? 0 : i % channels]);
  }
}

void quantise_channels(const float* src, const ChannelSteps& steps, size_t count, std::byte* dst) {
  HWY_DYNAMIC_DISPATCH(quantise_each)(src, steps, count, dst);
}

void dequantise_row(const std::byte* src, const ByteScale& scale, size_t count, float* dst) {
  HWY_DYNAMIC_DISPATCH(dequantise)(src, scale, count, dst);
}

void add_rows(const std::byte* a, const ByteScale& a_scale, const std::byte* b,
              const ByteScale& b_scale, const ByteScale& dst_scale, size_t count, std::byte* dst) {
  HWY_DYNAMIC_DISPATCH(add)(a, a_scale, b, b_scale, dst_scale, count, dst);
}

void gate_rows(const std::byte* src, const ByteScale& scale, const float* gates,
               const ByteScale& dst_scale, size_t channels, size_t rows, std::byte* dst) {
  HWY_DYNAMIC_DISPATCH(gate)(src, scale, gates, dst_scale, channels, rows, dst);
}

void mean_rows(const std::byte* src, const ByteScale& scale, size_t channels, size_t step,
               size_t rows, float* dst) {
  HWY_DYNAMIC_DISPATCH(mean_of)(src, scale, channels, step, rows, dst);
}

}  // namespace het::cpu
#endif
