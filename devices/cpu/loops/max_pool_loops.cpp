#include "devices/cpu/loops/max_pool_loops.h"

#include <algorithm>
#include <limits>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/max_pool_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/extremes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Pictures of bfloat16: their bits (sign and magnitude) as integers of the same order, above which
/// NaN lies.
struct BFloat16Order {
  using T = int16_t;
  static constexpr T kLeast = -0x8000;
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const T* from) {
    const auto bits = hn::LoadU(d, from);
    const auto magnitude = hn::And(bits, hn::Set(d, T{0x7FFF}));
    return hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, T{0x7F80})), magnitude, ordered(d, bits));
  }
  template <class D>
  static HWY_INLINE void store(D d, hn::Vec<D> best, T* to) {
    hn::StoreU(ordered(d, best), d, to);
  }
  template <class V>
  static HWY_INLINE V larger(V a, V b) {
    return hn::Max(a, b);
  }

 private:
  /// To the integers and back.
  template <class D>
  static HWY_INLINE hn::Vec<D> ordered(D d, hn::Vec<D> bits) {
    return hn::Xor(bits, hn::And(hn::ShiftRight<15>(bits), hn::Set(d, T{0x7FFF})));
  }
};

/// Values that lie in memory as they are compared.
template <class Value>
struct PlainOrder {
  using T = Value;
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const T* from) {
    return hn::LoadU(d, from);
  }
  template <class D>
  static HWY_INLINE void store(D d, hn::Vec<D> best, T* to) {
    hn::StoreU(best, d, to);
  }
};

struct FloatOrder : PlainOrder<float> {
  static constexpr float kLeast = -std::numeric_limits<float>::infinity();
  template <class V>
  static HWY_INLINE V larger(V a, V b) {
    return max_or_nan(a, b);
  }
};

/// Of bytes: uint8_t or int8_t.
template <class Byte>
struct ByteOrder : PlainOrder<Byte> {
  static constexpr Byte kLeast = std::numeric_limits<Byte>::min();
  template <class V>
  static HWY_INLINE V larger(V a, V b) {
    return hn::Max(a, b);
  }
};

/// The part of a window that lies in the picture.
struct Taps {
  int64_t first;
  int64_t end;
};

HWY_INLINE Taps taps_of(int64_t out, int64_t stride, int64_t pad, int64_t kernel, int64_t size) {
  const int64_t first = out * stride - pad;
  return {std::max<int64_t>(first, 0), std::min(first + kernel, size)};
}

/// Some lanes of one pixel of dst.
template <class Order, class D, class T>
HWY_INLINE void pool_lanes(D d, const MaxPoolShape& shape, const T* plane, Taps y, Taps x, T* dst) {
  auto best = hn::Set(d, Order::kLeast);
  for (int64_t iy = y.first; iy < y.end; ++iy) {
    for (int64_t ix = x.first; ix < x.end; ++ix) {
      best = Order::larger(best, Order::load(d, plane + (iy * shape.iw + ix) * shape.c));
    }
  }
  Order::store(d, best, dst);
}

/// The same of four pixels, with windows wholly in the picture across.
template <class Order, class D, class T>
HWY_INLINE void pool_four(D d, const MaxPoolShape& shape, const T* plane, Taps y, Taps x, T* dst) {
  auto best0 = hn::Set(d, Order::kLeast);
  auto best1 = best0;
  auto best2 = best0;
  auto best3 = best0;
  const int64_t step = shape.stride_x * shape.c;
  for (int64_t iy = y.first; iy < y.end; ++iy) {
    const T* from = plane + (iy * shape.iw + x.first) * shape.c;
    for (int64_t ix = x.first; ix < x.end; ++ix, from += shape.c) {
      best0 = Order::larger(best0, Order::load(d, from));
      best1 = Order::larger(best1, Order::load(d, from + step));
      best2 = Order::larger(best2, Order::load(d, from + 2 * step));
      best3 = Order::larger(best3, Order::load(d, from + 3 * step));
    }
  }
  Order::store(d, best0, dst);
  Order::store(d, best1, dst + shape.c);
  Order::store(d, best2, dst + 2 * shape.c);
  Order::store(d, best3, dst + 3 * shape.c);
}

/// All channels of a pixel, or of four, at least a vector of them; the last vector overlaps the one
/// before it.
template <class Order, bool kFour, class D, class T>
HWY_INLINE void pool_pixels(D d, const MaxPoolShape& shape, const T* plane, Taps y, Taps x,
                            T* dst) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < shape.c; c += lanes) {
    const int64_t at = std::min(c, shape.c - lanes);
    if constexpr (kFour) {
      pool_four<Order>(d, shape, plane + at, y, x, dst + at);
    } else {
      pool_lanes<Order>(d, shape, plane + at, y, x, dst + at);
    }
  }
}

template <class Order, class D, class T>
HWY_INLINE void pool_rows_by(D d, const MaxPoolShape& shape, const T* src, int64_t begin,
                             int64_t end, T* dst) {
  for (int64_t row = begin; row < end; ++row) {
    const T* plane = src + row / shape.oh * shape.ih * shape.iw * shape.c;
    const Taps y = taps_of(row % shape.oh, shape.stride_y, shape.pad_top, shape.kh, shape.ih);
    T* out = dst + row * shape.ow * shape.c;
    for (int64_t ox = 0; ox < shape.ow;) {
      const Taps x = taps_of(ox, shape.stride_x, shape.pad_left, shape.kw, shape.iw);
      if (ox + 4 <= shape.ow && x.end - x.first == shape.kw &&
          x.end + 3 * shape.stride_x <= shape.iw) {
        pool_pixels<Order, true>(d, shape, plane, y, x, out + ox * shape.c);
        ox += 4;
      } else {
        pool_pixels<Order, false>(d, shape, plane, y, x, out + ox * shape.c);
        ++ox;
      }
    }
  }
}

template <class Order, class T>
HWY_INLINE void pool_rows_of(const MaxPoolShape& shape, const T* src, int64_t begin, int64_t end,
                             T* dst) {
  const hn::ScalableTag<T> whole;
  const hn::CappedTag<T, 16 / sizeof(T)> part;
  const hn::CappedTag<T, 1> one;
  const auto channels = static_cast<size_t>(shape.c);
  if (channels >= hn::Lanes(whole)) {
    pool_rows_by<Order>(whole, shape, src, begin, end, dst);
  } else if (channels >= hn::Lanes(part)) {
    pool_rows_by<Order>(part, shape, src, begin, end, dst);
  } else {
    pool_rows_by<Order>(one, shape, src, begin, end, dst);
  }
}

void pool_rows(const MaxPoolShape& shape, const int16_t* src, int64_t begin, int64_t end,
               int16_t* dst) {
  pool_rows_of<BFloat16Order>(shape, src, begin, end, dst);
}

void pool_float_rows(const MaxPoolShape& shape, const float* src, int64_t begin, int64_t end,
                     float* dst) {
  pool_rows_of<FloatOrder>(shape, src, begin, end, dst);
}

void pool_byte_rows(const MaxPoolShape& shape, const uint8_t* src, int64_t begin, int64_t end,
                    uint8_t* dst) {
  pool_rows_of<ByteOrder<uint8_t>>(shape, src, begin, end, dst);
}

void pool_signed_rows(const MaxPoolShape& shape, const int8_t* src, int64_t begin, int64_t end,
                      int8_t* dst) {
  pool_rows_of<ByteOrder<int8_t>>(shape, src, begin, end, dst);
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(pool_rows);
HWY_EXPORT(pool_float_rows);
HWY_EXPORT(pool_byte_rows);
HWY_EXPORT(pool_signed_rows);

void max_pool_rows(const MaxPoolShape& shape, const BFloat16* src, int64_t begin, int64_t end,
                   BFloat16* dst) {
  HWY_DYNAMIC_DISPATCH(pool_rows)
  (shape, reinterpret_cast<const int16_t*>(src), begin, end, reinterpret_cast<int16_t*>(dst));
}

void max_pool_rows(const MaxPoolShape& shape, const float* src, int64_t begin, int64_t end,
                   float* dst) {
  HWY_DYNAMIC_DISPATCH(pool_float_rows)(shape, src, begin, end, dst);
}

void max_pool_rows(const MaxPoolShape& shape, const uint8_t* src, int64_t begin, int64_t end,
                   uint8_t* dst) {
  HWY_DYNAMIC_DISPATCH(pool_byte_rows)(shape, src, begin, end, dst);
}

void max_pool_rows(const MaxPoolShape& shape, const int8_t* src, int64_t begin, int64_t end,
                   int8_t* dst) {
  HWY_DYNAMIC_DISPATCH(pool_signed_rows)(shape, src, begin, end, dst);
}

}  // namespace het::cpu
#endif
