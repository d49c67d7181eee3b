#include "devices/cpu/loops/block_copy_loops.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/block_copy_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/channel_values-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Bits of bfloat16 as uint16_t here.
template <int64_t kCount, class S, class T>
HWY_INLINE void copy_values(const S* src, T* dst) {
  if constexpr (std::is_same_v<S, T>) {
    std::memcpy(dst, src, kCount * sizeof(T));
  } else {
    const hn::CappedTag<float, kCount> d;
    constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(hn::CappedTag<float, kCount>()));
#pragma GCC unroll 16
    for (int64_t i = 0; i < kCount; i += kLanes) {
      store_channels(d, load_channels(d, src + i), dst + i);
    }
  }
}

/// The first `count` of a block's values, to a pixel or from one: those behind them become 0 in a
/// block and are left alone in a pixel.
template <bool kToPixels, int64_t kCount, class S, class T>
HWY_INLINE void copy_first_values(const S* src, int64_t count, T* dst) {
  if constexpr (std::is_same_v<S, T> && sizeof(T) == sizeof(uint16_t)) {
    // As bits: a NaN could change on its way through floats.
    std::copy_n(src, count, dst);
    if (!kToPixels) std::fill(dst + count, dst + kCount, T{});
  } else {
    const hn::CappedTag<float, kCount> d;
    constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(hn::CappedTag<float, kCount>()));
#pragma GCC unroll 16
    for (int64_t i = 0; i < kCount; i += kLanes) {
      const int64_t used = std::clamp<int64_t>(count - i, 0, kLanes);
      if constexpr (kToPixels) {
        if (used > 0) store_first_channels(d, load_channels(d, src + i), dst + i, used);
      } else {
        store_channels(d, load_first_channels(d, src + i, used), dst + i);
      }
    }
  }
}

template <bool kToPixels, int64_t kBlock, class S, class T>
HWY_INLINE void copy_pixel(const BlockCopy& copy, int64_t pixel, const S* src, T* dst) {
  const int64_t src_step = kToPixels ? copy.block_stride : kBlock;
  const int64_t dst_step = kToPixels ? kBlock : copy.block_stride;
  src += pixel * (kToPixels ? kBlock : copy.channels);
  dst += pixel * (kToPixels ? copy.channels : kBlock);
  int64_t c = 0;
  for (; c + kBlock <= copy.channels; c += kBlock, src += src_step, dst += dst_step) {
    copy_values<kBlock>(src, dst);
  }
  if (c < copy.channels) copy_first_values<kToPixels, kBlock>(src, copy.channels - c, dst);
}

template <bool kToPixels, class S, class T>
HWY_INLINE void copy_pixels(const BlockCopy& copy, const S* src, T* dst) {
  if (copy.block == 16) {
    for (int64_t i = 0; i < copy.pixels; ++i) copy_pixel<kToPixels, 16>(copy, i, src, dst);
  } else {
    for (int64_t i = 0; i < copy.pixels; ++i) copy_pixel<kToPixels, 8>(copy, i, src, dst);
  }
}

template <bool kToPixels>
HWY_INLINE void copy_any(const BlockCopy& copy, ElementType from, const std::byte* src,
                         ElementType to, std::byte* dst) {
  const auto* floats = reinterpret_cast<const float*>(src);
  const auto* halves = reinterpret_cast<const uint16_t*>(src);
  auto* to_floats = reinterpret_cast<float*>(dst);
  auto* to_halves = reinterpret_cast<uint16_t*>(dst);
  const bool widens = to == ElementType::Float32;
  if (from == ElementType::Float32) {
    if (widens) return copy_pixels<kToPixels>(copy, floats, to_floats);
    return copy_pixels<kToPixels>(copy, floats, to_halves);
  }
  if (widens) return copy_pixels<kToPixels>(copy, halves, to_floats);
  copy_pixels<kToPixels>(copy, halves, to_halves);
}

void blocks_to_pixels(const BlockCopy& copy, ElementType from, const std::byte* src, ElementType to,
                      std::byte* dst) {
  copy_any<true>(copy, from, src, to, dst);
}
void pixels_to_blocks(const BlockCopy& copy, ElementType from, const std::byte* src, ElementType to,
                      std::byte* dst) {
  copy_any<false>(copy, from, src, to, dst);
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(blocks_to_pixels);
HWY_EXPORT(pixels_to_blocks);

void copy_to_pixels(const BlockCopy& copy, ElementType from, const std::byte* blocks,
                    ElementType to, std::byte* pixels) {
  HWY_DYNAMIC_DISPATCH(blocks_to_pixels)(copy, from, blocks, to, pixels);
}
void copy_to_blocks(const BlockCopy& copy, ElementType from, const std::byte* pixels,
                    ElementType to, std::byte* blocks) {
  HWY_DYNAMIC_DISPATCH(pixels_to_blocks)(copy, from, pixels, to, blocks);
}

}  // namespace het::cpu
#endif
