#include "devices/cpu/loops/weighing_loops.h"

#include <algorithm>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/weighing_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/bfloat16-inl.h"
#include "devices/cpu/loops/channel_values-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

template <bool kNative, class From, class To>
HWY_INLINE void weigh(const From* const* rows, const float* weights, size_t taps, size_t count,
                      To* dst) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    V sum = hn::Mul(load_channels(d, rows[0] + i), hn::Set(d, weights[0]));
    for (size_t t = 1; t < taps; ++t) {
      sum = hn::MulAdd(load_channels(d, rows[t] + i), hn::Set(d, weights[t]), sum);
    }
    store_channels_by<kNative>(d, sum, dst + i);
  }
  if (i == count) return;
  const auto rest = static_cast<int64_t>(count - i);
  V sum = hn::Mul(load_first_channels(d, rows[0] + i, rest), hn::Set(d, weights[0]));
  for (size_t t = 1; t < taps; ++t) {
    sum = hn::MulAdd(load_first_channels(d, rows[t] + i, rest), hn::Set(d, weights[t]), sum);
  }
  store_first_channels(d, sum, dst + i, rest);
}

template <bool kNative, class DV, class From, class To>
HWY_INLINE void weigh_vectors(DV d, const From* src, const int32_t* index, const float* weights,
                              size_t taps, size_t pixels, size_t lanes, To* dst) {
  const size_t step = hn::Lanes(d);
  for (size_t x = 0; x < pixels; ++x) {
    const float* w = weights + x * taps;
    const int32_t* at = index + x * taps;
    for (size_t next = 0; next < lanes; next += step) {
      // The last vector may begin in the one before.
      const size_t i = std::min(next, lanes - step);
      const auto tap = [&](size_t t) {
        return load_channels(d, src + static_cast<size_t>(at[t]) * lanes + i);
      };
      auto sum = hn::Mul(tap(0), hn::Set(d, w[0]));
      for (size_t t = 1; t < taps; ++t) sum = hn::MulAdd(tap(t), hn::Set(d, w[t]), sum);
      store_channels_by<kNative>(d, sum, dst + x * lanes + i);
    }
  }
}

template <bool kNative, class From, class To>
HWY_INLINE void weigh_each(const From* src, const int32_t* index, const float* weights, size_t taps,
                           size_t pixels, size_t lanes, To* dst) {
  if (lanes < hn::Lanes(D())) {
    const hn::CappedTag<float, kFewestLanes> few;
    return weigh_vectors<kNative>(few, src, index, weights, taps, pixels, lanes, dst);
  }
  weigh_vectors<kNative>(D(), src, index, weights, taps, pixels, lanes, dst);
}

void weigh_floats(const float* const* rows, const float* weights, size_t taps, size_t count,
                  float* dst) {
  weigh<false>(rows, weights, taps, count, dst);
}

void weigh_halves(const uint16_t* const* rows, const float* weights, size_t taps, size_t count,
                  float* dst) {
  weigh<false>(rows, weights, taps, count, dst);
}

void weigh_to_halves(const float* const* rows, const float* weights, size_t taps, size_t count,
                     uint16_t* dst) {
  if (has_bfloat16_instructions()) return weigh<true>(rows, weights, taps, count, dst);
  weigh<false>(rows, weights, taps, count, dst);
}

void weigh_each_float(const float* src, const int32_t* index, const float* weights, size_t taps,
                      size_t pixels, size_t lanes, float* dst) {
  weigh_each<false>(src, index, weights, taps, pixels, lanes, dst);
}

void weigh_each_half(const uint16_t* src, const int32_t* index, const float* weights, size_t taps,
                     size_t pixels, size_t lanes, float* dst) {
  weigh_each<false>(src, index, weights, taps, pixels, lanes, dst);
}

void weigh_each_to_half(const float* src, const int32_t* index, const float* weights, size_t taps,
                        size_t pixels, size_t lanes, uint16_t* dst) {
  if (has_bfloat16_instructions()) {
    return weigh_each<true>(src, index, weights, taps, pixels, lanes, dst);
  }
  weigh_each<false>(src, index, weights, taps, pixels, lanes, dst);
}

void gather_each(const float* src, const int32_t* index, const float* weights, size_t taps,
                 size_t pixels, float* dst) {
  const D d;
  const hn::RebindToSigned<D> di;
  const size_t lanes = hn::Lanes(d);
  size_t x = 0;
  for (; x + lanes <= pixels; x += lanes) {
    V sum = hn::Mul(hn::GatherIndex(d, src, hn::LoadU(di, index + x)), hn::LoadU(d, weights + x));
    for (size_t t = 1; t < taps; ++t) {
      const size_t at = t * pixels + x;
      sum = hn::MulAdd(hn::GatherIndex(d, src, hn::LoadU(di, index + at)),
                       hn::LoadU(d, weights + at), sum);
    }
    hn::StoreU(sum, d, dst + x);
  }
  for (; x < pixels; ++x) {
    V sum = hn::Mul(hn::Set(d, src[index[x]]), hn::Set(d, weights[x]));
    for (size_t t = 1; t < taps; ++t) {
      const size_t at = t * pixels + x;
      sum = hn::MulAdd(hn::Set(d, src[index[at]]), hn::Set(d, weights[at]), sum);
    }
    dst[x] = hn::GetLane(sum);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(weigh_floats);
HWY_EXPORT(weigh_halves);
HWY_EXPORT(weigh_to_halves);
HWY_EXPORT(weigh_each_float);
HWY_EXPORT(weigh_each_half);
HWY_EXPORT(weigh_each_to_half);
HWY_EXPORT(gather_each);

void weigh_rows(const float* const* rows, const float* weights, size_t taps, size_t count,
                float* dst) {
  HWY_DYNAMIC_DISPATCH(weigh_floats)(rows, weights, taps, count, dst);
}

void weigh_rows(const BFloat16* const* rows, const float* weights, size_t taps, size_t count,
                float* dst) {
  HWY_DYNAMIC_DISPATCH(weigh_halves)
  (reinterpret_cast<const uint16_t* const*>(rows), weights, taps, count, dst);
}

void weigh_rows(const float* const* rows, const float* weights, size_t taps, size_t count,
                BFloat16* dst) {
  HWY_DYNAMIC_DISPATCH(weigh_to_halves)
  (rows, weights, taps, count, reinterpret_cast<uint16_t*>(dst));
}

void weigh_pixels(const float* src, const int32_t* index, const float* weights, size_t taps,
                  size_t pixels, size_t lanes, float* dst) {
  HWY_DYNAMIC_DISPATCH(weigh_each_float)(src, index, weights, taps, pixels, lanes, dst);
}

void weigh_pixels(const BFloat16* src, const int32_t* index, const float* weights, size_t taps,
                  size_t pixels, size_t lanes, float* dst) {
  HWY_DYNAMIC_DISPATCH(weigh_each_half)
  (reinterpret_cast<const uint16_t*>(src), index, weights, taps, pixels, lanes, dst);
}

void weigh_pixels(const float* src, const int32_t* index, const float* weights, size_t taps,
                  size_t pixels, size_t lanes, BFloat16* dst) {
  HWY_DYNAMIC_DISPATCH(weigh_each_to_half)
  (src, index, weights, taps, pixels, lanes, reinterpret_cast<uint16_t*>(dst));
}

void weigh_gathered(const float* src, const int32_t* index, const float* weights, size_t taps,
                    size_t pixels, float* dst) {
  HWY_DYNAMIC_DISPATCH(gather_each)(src, index, weights, taps, pixels, dst);
}

}  // namespace het::cpu
#endif
