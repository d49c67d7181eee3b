#include "devices/cpu/loops/half_loops.h"

#include <algorithm>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/half_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/bfloat16-inl.h"

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using Half = hn::Rebind<hwy::float16_t, D>;

void widen(const Float16* src, size_t count, float* dst) {
  const D d;
  const Half half;
  const auto* from = reinterpret_cast<const hwy::float16_t*>(src);
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(half, from + i)), d, dst + i);
  }
  for (; i < count; ++i) dst[i] = static_cast<float>(src[i]);
}

void narrow(const float* src, size_t count, Float16* dst) {
  const D d;
  const Half half;
  auto* to = reinterpret_cast<hwy::float16_t*>(dst);
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::DemoteTo(half, hn::LoadU(d, src + i)), half, to + i);
  }
  for (; i < count; ++i) dst[i] = Float16(src[i]);
}

void widen_bfloat16(const BFloat16* src, size_t count, float* dst) {
  const D d;
  const auto* from = reinterpret_cast<const uint16_t*>(src);
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(load_bfloat16(d, from + i), d, dst + i);
  }
  for (; i < count; ++i) dst[i] = static_cast<float>(src[i]);
}

using Upper = hn::Rebind<uint16_t, D>;

/// The floats at `src`, rounded.
HWY_INLINE hn::Vec<Upper> rounded(const float* src) {
  return to_bfloat16(D(), hn::LoadU(D(), src));
}

void narrow_bfloat16(const float* src, size_t count, BFloat16* dst) {
  auto* to = reinterpret_cast<uint16_t*>(dst);
  const size_t lanes = hn::Lanes(D());
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(rounded(src + i), Upper(), to + i);
  for (; i < count; ++i) dst[i] = BFloat16(src[i]);
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr size_t kPixels = 32;

/// For each value of 32 pixels, three vectors of them: where it stands in the first two planes,
/// which take places 0 to 63, and then in what these gave and the third plane.
struct PixelOrder {
  alignas(64) uint16_t first[3 * kPixels] = {};
  alignas(64) uint16_t second[3 * kPixels] = {};
  constexpr PixelOrder() {
    for (size_t i = 0; i < 3 * kPixels; ++i) {
      const size_t pixel = i / 3;
      first[i] = static_cast<uint16_t>(i % 3 == 1 ? kPixels + pixel : pixel);
      second[i] = static_cast<uint16_t>(i % 3 == 2 ? kPixels + pixel : i % kPixels);
    }
  }
};

/// 32 pixels by instructions that Highway 1.0 has not. Numbers below the smallest normal one become
/// 0.
HWY_INLINE void interleave_pixels(const float* src, size_t plane, uint16_t* to) {
  static constexpr PixelOrder kOrder;
  const D d;
  const hn::Repartition<uint16_t, D> narrow;
  hn::Vec<decltype(narrow)> planes[3];
#pragma GCC unroll 3
  for (size_t c = 0; c < 3; ++c) {
    const auto low = hn::LoadU(d, src + c * plane);
    const auto high = hn::LoadU(d, src + c * plane + kPixels / 2);
    asm("vcvtne2ps2bf16 %[low], %[high], %[both]"
        : [both] "=v"(planes[c].raw)
        : [low] "v"(low.raw), [high] "v"(high.raw));
  }
#pragma GCC unroll 3
  for (size_t v = 0; v < 3; ++v) {
    const auto first = hn::Load(narrow, kOrder.first + v * kPixels);
    const auto second = hn::Load(narrow, kOrder.second + v * kPixels);
    const __m512i two = _mm512_permutex2var_epi16(planes[0].raw, first.raw, planes[1].raw);
    _mm512_storeu_si512(to + v * kPixels,
                        _mm512_permutex2var_epi16(two, second.raw, planes[2].raw));
  }
}

void interleave_natively(const float* src, size_t plane, size_t count, uint16_t* to) {
  if (count < kPixels) {
    float given[3 * kPixels] = {};
    uint16_t made[3 * kPixels];
    for (size_t c = 0; c < 3; ++c) std::copy_n(src + c * plane, count, given + c * kPixels);
    interleave_pixels(given, kPixels, made);
    std::copy_n(made, 3 * count, to);
    return;
  }
  for (size_t i = 0; i + kPixels <= count; i += kPixels) {
    interleave_pixels(src + i, plane, to + 3 * i);
  }
  const size_t last = count - kPixels;  // again, in part
  interleave_pixels(src + last, plane, to + 3 * last);
}
#endif

void interleave_bfloat16(const float* src, size_t plane, size_t count, BFloat16* dst) {
  auto* to = reinterpret_cast<uint16_t*>(dst);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if (has_bfloat16_instructions()) return interleave_natively(src, plane, count, to);
#endif
  const size_t lanes = hn::Lanes(D());
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreInterleaved3(rounded(src + i), rounded(src + plane + i), rounded(src + 2 * plane + i),
                          Upper(), to + 3 * i);
  }
  for (; i < count; ++i) {
    for (size_t c = 0; c < 3; ++c) dst[3 * i + c] = BFloat16(src[c * plane + i]);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(widen);
HWY_EXPORT(narrow);
HWY_EXPORT(widen_bfloat16);
HWY_EXPORT(narrow_bfloat16);
HWY_EXPORT(interleave_bfloat16);

void half_to_float_row(const Float16* src, size_t count, float* dst) {
  HWY_DYNAMIC_DISPATCH(widen)(src, count, dst);
}

void float_to_half_row(const float* src, size_t count, Float16* dst) {
  HWY_DYNAMIC_DISPATCH(narrow)(src, count, dst);
}

void bfloat16_to_float_row(const BFloat16* src, size_t count, float* dst) {
  HWY_DYNAMIC_DISPATCH(widen_bfloat16)(src, count, dst);
}

void float_to_bfloat16_row(const float* src, size_t count, BFloat16* dst) {
  HWY_DYNAMIC_DISPATCH(narrow_bfloat16)(src, count, dst);
}

void float_planes_to_bfloat16_pixels(const float* src, size_t plane, size_t count, BFloat16* dst) {
  HWY_DYNAMIC_DISPATCH(interleave_bfloat16)(src, plane, count, dst);
}

}  // namespace het::cpu
#endif
