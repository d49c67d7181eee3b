#include "devices/cpu/loops/half_loops.h"

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/half_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/bfloat16-inl.h"

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

void interleave_bfloat16(const float* src, size_t plane, size_t count, BFloat16* dst) {
  auto* to = reinterpret_cast<uint16_t*>(dst);
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
