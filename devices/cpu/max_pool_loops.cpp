#include "devices/cpu/max_pool_loops.h"

#include <algorithm>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/max_pool_loops.cpp"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The bits of floats (sign and magnitude) as integers of the same order, and back.
template <class D, class V>
HWY_INLINE V ordered(D d, V bits) {
  return hn::Xor(bits, hn::And(hn::ShiftRight<15>(bits), hn::Set(d, int16_t{0x7FFF})));
}

/// The part of a window that lies in the picture.
struct Taps {
  int64_t first;
  int64_t end;
};

HWY_INLINE Taps taps_of(int64_t out, int64_t stride, int64_t pad, int64_t kernel, int64_t size) {
  const int64_t first = out * stride - pad;
  return {std::max<int64_t>(first, 0), std::min(first + kernel, size)};
}

template <class D>
HWY_INLINE void pool_lanes(D d, const MaxPoolShape& shape, const int16_t* plane, Taps y, Taps x,
                           int16_t* dst) {
  auto best = hn::Set(d, int16_t{-0x8000});
  for (int64_t iy = y.first; iy < y.end; ++iy) {
    for (int64_t ix = x.first; ix < x.end; ++ix) {
      best = hn::Max(best, ordered(d, hn::LoadU(d, plane + (iy * shape.iw + ix) * shape.c)));
    }
  }
  hn::StoreU(ordered(d, best), d, dst);
}

/// All channels of a pixel, at least a vector of them; the last vector overlaps the one before it.
template <class D>
HWY_INLINE void pool_pixel(D d, const MaxPoolShape& shape, const int16_t* plane, Taps y, Taps x,
                           int16_t* dst) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = 0;
  for (; c + lanes <= shape.c; c += lanes) pool_lanes(d, shape, plane + c, y, x, dst + c);
  if (c < shape.c) pool_lanes(d, shape, plane + shape.c - lanes, y, x, dst + shape.c - lanes);
}

template <class D>
HWY_INLINE void pool_rows_by(D d, const MaxPoolShape& shape, const int16_t* src, int64_t begin,
                             int64_t end, int16_t* dst) {
  for (int64_t row = begin; row < end; ++row) {
    const int16_t* plane = src + row / shape.oh * shape.ih * shape.iw * shape.c;
    const Taps y = taps_of(row % shape.oh, shape.stride_y, shape.pad_top, shape.kh, shape.ih);
    for (int64_t ox = 0; ox < shape.ow; ++ox) {
      const Taps x = taps_of(ox, shape.stride_x, shape.pad_left, shape.kw, shape.iw);
      pool_pixel(d, shape, plane, y, x, dst + (row * shape.ow + ox) * shape.c);
    }
  }
}

void pool_rows(const MaxPoolShape& shape, const int16_t* src, int64_t begin, int64_t end,
               int16_t* dst) {
  const hn::ScalableTag<int16_t> whole;
  const hn::CappedTag<int16_t, 8> part;
  const hn::CappedTag<int16_t, 1> one;
  const auto channels = static_cast<size_t>(shape.c);
  if (channels >= hn::Lanes(whole)) {
    pool_rows_by(whole, shape, src, begin, end, dst);
  } else if (channels >= hn::Lanes(part)) {
    pool_rows_by(part, shape, src, begin, end, dst);
  } else {
    pool_rows_by(one, shape, src, begin, end, dst);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(pool_rows);

void max_pool_rows(const MaxPoolShape& shape, const BFloat16* src, int64_t begin, int64_t end,
                   BFloat16* dst) {
  HWY_DYNAMIC_DISPATCH(pool_rows)
  (shape, reinterpret_cast<const int16_t*>(src), begin, end, reinterpret_cast<int16_t*>(dst));
}

}  // namespace het::cpu
#endif
