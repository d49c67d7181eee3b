// The results of Winograd's algorithms: products transformed back, with their tails, into pictures.
// Included after hwy/highway.h, once per instruction set.
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "devices/cpu/loops/channel_values-inl.h"
#include "devices/cpu/loops/elementwise_loop.h"
#include "devices/cpu/loops/extremes-inl.h"
#include "devices/cpu/loops/winograd_loops.h"
#include "devices/cpu/loops/winograd_products-inl.h"

#if defined(HET_WINOGRAD_RESULTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HET_WINOGRAD_RESULTS_INL_H
#undef HET_WINOGRAD_RESULTS_INL_H
#else
#define HET_WINOGRAD_RESULTS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// For bodies that have to be part of the loop around them.
#define HET_INLINE_BODY HWY_ATTR __attribute__((always_inline))

/// A^T M A of one vector of one tile by Results::transform(), which makes kM values of kAlpha:
/// store(y, x, result) for `height` rows and `width` columns.
template <class D, class Results, bool kWhole, class Store>
HWY_INLINE void transform_dst_tile(D d, const float* src, int64_t point, int height, int width,
                                   const Store& store) {
  using V = hn::Vec<D>;
  constexpr int kAlpha = Results::kAlpha;
  constexpr int kM = Results::kM;
  const int lanes = static_cast<int>(hn::Lanes(d));
  HWY_ALIGN float columns[kM * kAlpha * hn::MaxLanes(d)];
  for (int x = 0; x < kAlpha; ++x) {
    V in[kAlpha];
    V out[kM];
#pragma GCC unroll 8
    for (int y = 0; y < kAlpha; ++y) in[y] = hn::Load(d, src + (y * kAlpha + x) * point);
    Results::transform(d, in, out);
#pragma GCC unroll 8
    for (int y = 0; y < kM; ++y) hn::Store(out[y], d, columns + (y * kAlpha + x) * lanes);
  }
  for (int y = 0; y < (kWhole ? kM : height); ++y) {
    V in[kAlpha];
    V out[kM];
#pragma GCC unroll 8
    for (int x = 0; x < kAlpha; ++x) in[x] = hn::Load(d, columns + (y * kAlpha + x) * lanes);
    Results::transform(d, in, out);
#pragma GCC unroll 8
    for (int x = 0; x < kM; ++x) {
      if (!kWhole && x >= width) break;
      store(y, x, out[x]);
    }
  }
}

/// One vector of one tile of dst: where it lies, and how much of it there is.
template <class T>
struct TilePart {
  int height, width;
  int64_t channels;  ///< in memory; those behind them are not written
  int64_t used;      ///< those that the tensor has; the others are padding, which stays 0
  int64_t row, pixel;
  const T* sum;
  T* dst;
};

template <class D>
HWY_INLINE hn::Vec<D> limited(D d, const WinogradTail& tail, hn::Vec<D> value) {
  if (!tail.clip) return value;
  return clamped(value, hn::Set(d, tail.low), hn::Set(d, tail.high));
}

/// From the products straight into dst.
template <class D, class Results, bool kWhole, class T>
HWY_INLINE void store_tile(D d, const float* products, int64_t point, hn::Vec<D> bias,
                           const WinogradTail& tail, const TilePart<T>& part) {
  const auto store = [&](int y, int x, hn::Vec<D> value) HET_INLINE_BODY {
    const int64_t at = y * part.row + x * part.pixel;
    value = hn::Add(value, bias);
    if (part.sum != nullptr) value = hn::Add(value, load_channels(d, part.sum + at));
    store_channels(d, limited(d, tail, value), part.dst + at);
  };
  transform_dst_tile<D, Results, kWhole>(d, products, point, part.height, part.width, store);
}

/// By way of `values`, where the rest of the tail runs: it takes a call for many values.
template <class D, class Results, class T>
HWY_NOINLINE void store_tile_by_values(const float* products, int64_t point, const float* bias,
                                       const WinogradTail& tail, const TilePart<T>& part) {
  constexpr int kM = Results::kM;
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN float values[kM * kM * hn::MaxLanes(D())];
  const auto load = [&](const T* from) HET_INLINE_BODY {
    return part.channels == lanes ? load_channels(d, from)
                                  : load_first_channels(d, from, part.channels);
  };
  const auto keep = [&](int y, int x, hn::Vec<D> value) HET_INLINE_BODY {
    value = hn::Add(value, hn::LoadU(d, bias));
    if (part.sum != nullptr) {
      value = hn::Add(value, load(part.sum + y * part.row + x * part.pixel));
    }
    hn::Store(limited(d, tail, value), d, values + (y * part.width + x) * lanes);
  };
  transform_dst_tile<D, Results, false>(d, products, point, part.height, part.width, keep);
  if (tail.rest != nullptr) {
    run_elementwise_in_place(*tail.rest, values,
                             static_cast<size_t>(part.height * part.width * lanes));
  }
  const auto is_used = hn::FirstN(d, static_cast<size_t>(part.used));
  for (int y = 0; y < part.height; ++y) {
    for (int x = 0; x < part.width; ++x) {
      auto value = hn::Load(d, values + (y * part.width + x) * lanes);
      if (part.used < lanes) value = hn::IfThenElseZero(is_used, value);
      T* to = part.dst + y * part.row + x * part.pixel;
      if (part.channels == lanes) {
        store_channels(d, value, to);
      } else {
        store_first_channels(d, value, to, part.channels);
      }
    }
  }
}

template <class Results, int kBlock, class T>
void transform_dst(const WinogradShape& shape, const float* products, int64_t first, int64_t tiles,
                   const float* bias, int64_t channel_begin, int64_t channel_end,
                   const WinogradTail& tail, T* dst) {
  constexpr int kM = Results::kM;
  using D = BlockTag<kBlock>;
  const D d;
  const WinogradStrides strides(shape, tiles, kGroup<kBlock>);
  const WinogradSteps steps = shape.dst_steps();
  constexpr int64_t kWidth = kLanes<kBlock>;
  const bool has_rest = tail.rest != nullptr;
  WinogradShape::Tile tile = shape.tile(first);
  for (int64_t t = 0; t < tiles; ++t, tile = shape.behind(tile)) {
    TilePart<T> part = {};
    part.height = static_cast<int>(std::min<int64_t>(kM, shape.oh - tile.y));
    part.width = static_cast<int>(std::min<int64_t>(kM, shape.ow - tile.x));
    part.row = steps.row;
    part.pixel = steps.pixel;
    const int64_t begin = tile.n * steps.image + tile.y * steps.row + tile.x * steps.pixel;
    for (int64_t c = channel_begin; c < channel_end; c += kWidth) {
      const float* from = products + t * kGroup<kBlock> + (c - channel_begin);
      part.used = std::clamp<int64_t>(shape.oc - c, 0, kWidth);
      part.channels = shape.dst.channels_last ? part.used : kWidth;
      if (part.channels == 0) break;
      const int64_t offset = begin + c / kBlock * steps.block + c % kBlock;
      part.sum = tail.sum == nullptr ? nullptr : static_cast<const T*>(tail.sum) + offset;
      part.dst = dst + offset;
      if (has_rest || part.channels < kWidth) {
        store_tile_by_values<D, Results>(from, strides.product_point, bias + c, tail, part);
      } else if (part.height == kM && part.width == kM) {
        store_tile<D, Results, true>(d, from, strides.product_point, hn::LoadU(d, bias + c), tail,
                                     part);
      } else {
        store_tile<D, Results, false>(d, from, strides.product_point, hn::LoadU(d, bias + c), tail,
                                      part);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#endif  // per instruction set
