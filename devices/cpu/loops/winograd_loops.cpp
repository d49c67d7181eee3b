#include "devices/cpu/loops/winograd_loops.h"

#include <algorithm>
#include <type_traits>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/winograd_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/channel_values-inl.h"
#include "devices/cpu/loops/elementwise_loop.h"
#include "devices/cpu/loops/winograd_points.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The register tile of the products: kTiles tiles times kVectors vectors of output channels.
#if HWY_TARGET <= HWY_AVX3
constexpr int kVectors = 2;
constexpr int kTiles = 14;
#elif HWY_TARGET == HWY_AVX2
constexpr int kVectors = 2;
constexpr int kTiles = 6;
#elif HWY_ARCH_ARM_A64
constexpr int kVectors = 4;
constexpr int kTiles = 6;
#else
constexpr int kVectors = 4;
constexpr int kTiles = 2;
#endif

template <int kBlock>
using BlockTag = hn::CappedTag<float, kBlock>;
template <int kBlock>
constexpr int kLanes = static_cast<int>(hn::MaxLanes(BlockTag<kBlock>()));
template <int kBlock>
constexpr int kGroup = kVectors* kLanes<kBlock>;

/// Distance of late weights from one point to the next.
template <int kBlock>
constexpr int kLateRow = kLateChannels* kGroup<kBlock> + 16;

/// Distances in the scratch memory, in values. Odd numbers of cache lines between the points keep
/// them apart in the caches.
struct Strides {
  Strides(const WinogradShape& shape, int64_t tiles, int64_t group)
      : src_point(tiles * shape.block + 16),
        src_block(shape.points() * src_point),
        product_point(tiles * group + 16) {}
  int64_t src_point, src_block, product_point;
};

/// One dimension of the transform of the source, B^T d: 2 P + 2 values at the points 0, +-a, and
/// infinity.
template <class D, int P>
HWY_INLINE void transform_src_line(D d, const hn::Vec<D>* in, hn::Vec<D>* out) {
  using V = hn::Vec<D>;
  using Points = WinogradPoints<P>;
  V zero = in[2 * P];
  V infinity = in[2 * P + 1];
#pragma GCC unroll 8
  for (int k = 0; k < P; ++k) {
    const V c = hn::Set(d, Points::whole(k));
    zero = hn::MulAdd(c, in[2 * k], zero);
    infinity = hn::MulAdd(c, in[2 * k + 1], infinity);
  }
  out[0] = zero;
  out[2 * P + 1] = infinity;
#pragma GCC unroll 8
  for (int pair = 0; pair < P; ++pair) {
    V even = in[2 * P];
    V odd = in[2 * P - 1];
#pragma GCC unroll 8
    for (int k = 0; k < P - 1; ++k) {
      const V c = hn::Set(d, Points::without(pair, k));
      even = hn::MulAdd(c, in[2 * k + 2], even);
      odd = hn::MulAdd(c, in[2 * k + 1], odd);
    }
    const V a = hn::Set(d, Points::point(pair));
    out[2 * pair + 1] = hn::MulAdd(a, odd, even);
    out[2 * pair + 2] = hn::NegMulAdd(a, odd, even);
  }
}

/// One dimension of the transform of the products, A^T m.
template <class D, int P>
HWY_INLINE void transform_dst_line(D d, const hn::Vec<D>* in, hn::Vec<D>* out) {
  using V = hn::Vec<D>;
  using Points = WinogradPoints<P>;
  V sums[P];
  V differences[P];
#pragma GCC unroll 8
  for (int pair = 0; pair < P; ++pair) {
    sums[pair] = hn::Add(in[2 * pair + 1], in[2 * pair + 2]);
    differences[pair] = hn::Sub(in[2 * pair + 1], in[2 * pair + 2]);
  }
  V first = hn::Add(in[0], sums[0]);
#pragma GCC unroll 8
  for (int pair = 1; pair < P; ++pair) first = hn::Add(first, sums[pair]);
  out[0] = first;
#pragma GCC unroll 8
  for (int i = 1; i < 2 * P; ++i) {
    const V* terms = i % 2 == 0 ? sums : differences;
    const float power = Points::power(0, i);
    V sum = power == 1.0f ? terms[0] : hn::Mul(hn::Set(d, power), terms[0]);
    if (i == 2 * P - 1) sum = hn::Add(sum, in[2 * P + 1]);
#pragma GCC unroll 8
    for (int pair = 1; pair < P; ++pair) {
      sum = hn::MulAdd(hn::Set(d, Points::power(pair, i)), terms[pair], sum);
    }
    out[i] = sum;
  }
}

/// B^T d B of one tile of one block; `row` values from row to row of `src`.
template <class D, int P, class T>
HWY_INLINE void transform_src_tile(D d, int block, const T* src, int64_t row, int64_t pixel,
                                   int64_t point, float* dst) {
  using V = hn::Vec<D>;
  constexpr int kAlpha = 2 * P + 2;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int part = 0; part < block; part += lanes) {
    HWY_ALIGN float columns[kAlpha * kAlpha * hn::MaxLanes(d)];
    for (int x = 0; x < kAlpha; ++x) {
      V in[kAlpha];
      V out[kAlpha];
#pragma GCC unroll 8
      for (int y = 0; y < kAlpha; ++y) {
        in[y] = load_channels(d, src + part + y * row + x * pixel);
      }
      transform_src_line<D, P>(d, in, out);
#pragma GCC unroll 8
      for (int y = 0; y < kAlpha; ++y) hn::Store(out[y], d, columns + (y * kAlpha + x) * lanes);
    }
    for (int y = 0; y < kAlpha; ++y) {
      V in[kAlpha];
      V out[kAlpha];
#pragma GCC unroll 8
      for (int x = 0; x < kAlpha; ++x) in[x] = hn::Load(d, columns + (y * kAlpha + x) * lanes);
      transform_src_line<D, P>(d, in, out);
      float* to = dst + part + y * kAlpha * point;
#pragma GCC unroll 8
      for (int x = 0; x < kAlpha; ++x) hn::Store(out[x], d, to + x * point);
    }
  }
}

/// The tile at row `top` and column `left` of a plane that does not have all of it, or has fewer
/// channels than a block: with zeros for the rest. Vector by vector: compilers make slow calls of
/// such small fills and copies.
template <int kBlock, int kAlpha, class T>
HWY_INLINE void copy_border_tile(const WinogradShape& shape, const WinogradSteps& steps,
                                 int64_t channels, const T* plane, int64_t top, int64_t left,
                                 float* dst) {
  const BlockTag<kBlock> d;
  for (int64_t y = top; y < top + kAlpha; ++y) {
    for (int64_t x = left; x < left + kAlpha; ++x, dst += kBlock) {
      const bool exists = y >= 0 && y < shape.ih && x >= 0 && x < shape.iw;
      const T* from = plane + y * steps.row + x * steps.pixel;
      for (int part = 0; part < kBlock; part += kLanes<kBlock>) {
        auto value = hn::Zero(d);
        if (exists && part + kLanes<kBlock> <= channels) {
          value = load_channels(d, from + part);
        } else if (exists && part < channels) {
          value = load_first_channels(d, from + part, channels - part);
        }
        hn::Store(value, d, dst + part);
      }
    }
  }
}

/// How many channels of a block are in memory.
inline int64_t channels_of_block(const WinogradShape& shape, const WinogradPicture& picture,
                                 int64_t channels, int64_t block) {
  return picture.channels_last ? std::min(shape.block, channels - block * shape.block)
                               : shape.block;
}

template <int P, int kBlock, class T>
void transform_src(const WinogradShape& shape, const T* src, int64_t first, int64_t tiles,
                   int64_t block_begin, int64_t block_end, float* transformed) {
  constexpr int kAlpha = 2 * P + 2;
  const BlockTag<kBlock> d;
  const Strides strides(shape, tiles, 0);
  const WinogradSteps steps = shape.src_steps();
  HWY_ALIGN float padded[kAlpha * kAlpha * kBlock];
  const auto transform = [&](const WinogradShape::Tile& tile, int64_t t, int64_t block) HWY_ATTR {
    const T* plane = src + tile.n * steps.image + block * steps.block;
    float* to = transformed + block * strides.src_block + t * kBlock;
    const int64_t channels = channels_of_block(shape, shape.src, shape.ic, block);
    const int64_t y = tile.y - shape.pad_top;
    const int64_t x = tile.x - shape.pad_left;
    if (y >= 0 && x >= 0 && y + kAlpha <= shape.ih && x + kAlpha <= shape.iw &&
        channels == kBlock) {
      transform_src_tile<BlockTag<kBlock>, P>(d, kBlock, plane + y * steps.row + x * steps.pixel,
                                              steps.row, steps.pixel, strides.src_point, to);
      return;
    }
    copy_border_tile<kBlock, kAlpha>(shape, steps, channels, plane, y, x, padded);
    transform_src_tile<BlockTag<kBlock>, P>(d, kBlock, padded, kAlpha * kBlock, kBlock,
                                            strides.src_point, to);
  };
  if (shape.src.channels_last) {
    // The blocks of a pixel share cache lines.
    WinogradShape::Tile tile = shape.tile(first);
    for (int64_t t = 0; t < tiles; ++t, tile = shape.behind(tile)) {
      for (int64_t block = block_begin; block < block_end; ++block) transform(tile, t, block);
    }
    return;
  }
  for (int64_t block = block_begin; block < block_end; ++block) {
    WinogradShape::Tile tile = shape.tile(first);
    for (int64_t t = 0; t < tiles; ++t, tile = shape.behind(tile)) transform(tile, t, block);
  }
}

/// kRows tiles times kColumns vectors over some blocks of input channels, in registers.
template <int kBlock, int kRows, int kColumns>
HWY_INLINE void multiply_tile(int64_t ic_blocks, const float* HWY_RESTRICT src, int64_t src_block,
                              const float* HWY_RESTRICT weights, bool add,
                              float* HWY_RESTRICT dst) {
  const BlockTag<kBlock> d;
  using V = hn::Vec<BlockTag<kBlock>>;
  constexpr int kWidth = kLanes<kBlock>;
  V sums[kRows][kColumns];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int k = 0; k < kColumns; ++k) sums[r][k] = hn::Zero(d);
  }
  if (add) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int k = 0; k < kColumns; ++k) {
        sums[r][k] = hn::Load(d, dst + r * kGroup<kBlock> + k * kWidth);
      }
    }
  }
  for (int64_t block = 0; block < ic_blocks; ++block) {
#pragma GCC unroll 2
    for (int c = 0; c < kBlock; ++c) {
      V w[kColumns];
#pragma GCC unroll 4
      for (int k = 0; k < kColumns; ++k) w[k] = hn::Load(d, weights + k * kWidth);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const V x = hn::Set(d, src[r * kBlock + c]);
#pragma GCC unroll 4
        for (int k = 0; k < kColumns; ++k) sums[r][k] = hn::MulAdd(x, w[k], sums[r][k]);
      }
      weights += kGroup<kBlock>;
    }
    src += src_block;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int k = 0; k < kColumns; ++k) {
      hn::Store(sums[r][k], d, dst + r * kGroup<kBlock> + k * kWidth);
    }
  }
}

/// Products at some points that follow each other, over the same blocks of input channels.
struct PointRange {
  int64_t points, ic_blocks;
  const float* src;
  int64_t src_point, src_block;
  const float* weights;
  int64_t weights_point;
  bool add;  ///< to what dst holds
  float* dst;
  int64_t dst_point;
};

template <int kBlock, int kColumns, int kRows = kTiles>
HWY_INLINE void multiply_rows(const PointRange& range, int64_t first, int64_t rows) {
  if constexpr (kRows > 0) {
    if (rows != kRows) return multiply_rows<kBlock, kColumns, kRows - 1>(range, first, rows);
    for (int64_t point = 0; point < range.points; ++point) {
      multiply_tile<kBlock, kRows, kColumns>(
          range.ic_blocks, range.src + point * range.src_point + first * kBlock, range.src_block,
          range.weights + point * range.weights_point, range.add,
          range.dst + point * range.dst_point + first * kGroup<kBlock>);
    }
  }
}

/// All tiles; the register tiles are as equal as possible.
template <int kBlock, int kColumns>
HWY_NOINLINE void multiply_points(const PointRange& range, int64_t tiles) {
  const int64_t parts = (tiles + kTiles - 1) / kTiles;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t begin = tiles * part / parts;
    multiply_rows<kBlock, kColumns>(range, begin, tiles * (part + 1) / parts - begin);
  }
}

/// For bodies that have to be part of the loop around them.
#define HET_INLINE_BODY HWY_ATTR __attribute__((always_inline))

/// A^T M A of one vector of one tile: store(y, x, result) for `height` rows and `width` columns.
template <class D, int P, bool kWhole, class Store>
HWY_INLINE void transform_dst_tile(D d, const float* src, int64_t point, int height, int width,
                                   const Store& store) {
  using V = hn::Vec<D>;
  constexpr int kAlpha = 2 * P + 2;
  constexpr int kM = 2 * P;
  const int lanes = static_cast<int>(hn::Lanes(d));
  HWY_ALIGN float columns[kM * kAlpha * hn::MaxLanes(d)];
  for (int x = 0; x < kAlpha; ++x) {
    V in[kAlpha];
    V out[kM];
#pragma GCC unroll 8
    for (int y = 0; y < kAlpha; ++y) in[y] = hn::Load(d, src + (y * kAlpha + x) * point);
    transform_dst_line<D, P>(d, in, out);
#pragma GCC unroll 8
    for (int y = 0; y < kM; ++y) hn::Store(out[y], d, columns + (y * kAlpha + x) * lanes);
  }
  for (int y = 0; y < (kWhole ? kM : height); ++y) {
    V in[kAlpha];
    V out[kM];
#pragma GCC unroll 8
    for (int x = 0; x < kAlpha; ++x) in[x] = hn::Load(d, columns + (y * kAlpha + x) * lanes);
    transform_dst_line<D, P>(d, in, out);
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
  return hn::Min(hn::Max(value, hn::Set(d, tail.low)), hn::Set(d, tail.high));
}

/// From the products straight into dst.
template <class D, int P, bool kWhole, class T>
HWY_INLINE void store_tile(D d, const float* products, int64_t point, hn::Vec<D> bias,
                           const WinogradTail& tail, const TilePart<T>& part) {
  const auto store = [&](int y, int x, hn::Vec<D> value) HET_INLINE_BODY {
    const int64_t at = y * part.row + x * part.pixel;
    value = hn::Add(value, bias);
    if (part.sum != nullptr) value = hn::Add(value, load_channels(d, part.sum + at));
    store_channels(d, limited(d, tail, value), part.dst + at);
  };
  transform_dst_tile<D, P, kWhole>(d, products, point, part.height, part.width, store);
}

/// By way of `values`, where the rest of the tail runs: it takes a call for many values.
template <class D, int P, class T>
HWY_NOINLINE void store_tile_by_values(const float* products, int64_t point, const float* bias,
                                       const WinogradTail& tail, const TilePart<T>& part) {
  constexpr int kM = 2 * P;
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
  transform_dst_tile<D, P, false>(d, products, point, part.height, part.width, keep);
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

template <int P, int kBlock, class T>
void transform_dst(const WinogradShape& shape, const float* products, int64_t first, int64_t tiles,
                   const float* bias, int64_t channel_begin, int64_t channel_end,
                   const WinogradTail& tail, T* dst) {
  constexpr int kM = 2 * P;
  using D = BlockTag<kBlock>;
  const D d;
  const Strides strides(shape, tiles, kGroup<kBlock>);
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
        store_tile_by_values<D, P>(from, strides.product_point, bias + c, tail, part);
      } else if (part.height == kM && part.width == kM) {
        store_tile<D, P, true>(d, from, strides.product_point, hn::LoadU(d, bias + c), tail, part);
      } else {
        store_tile<D, P, false>(d, from, strides.product_point, hn::LoadU(d, bias + c), tail, part);
      }
    }
  }
}

/// G g of a row of points: one value per column of the kernel.
template <int kBlock, bool kOneTap>
HWY_INLINE void combine_taps(const float* taps, hn::Vec<BlockTag<kBlock>> first,
                             hn::Vec<BlockTag<kBlock>> second, hn::Vec<BlockTag<kBlock>> third,
                             hn::Vec<BlockTag<kBlock>>* out) {
  const BlockTag<kBlock> d;
  constexpr int kCount = kGroup<kBlock>;
#pragma GCC unroll 4
  for (int x = 0; x < 3; ++x) {
    out[x] = hn::Mul(first, hn::Load(d, taps + x * kCount));
    if (kOneTap) continue;
    out[x] = hn::MulAdd(second, hn::Load(d, taps + (3 + x) * kCount), out[x]);
    out[x] = hn::MulAdd(third, hn::Load(d, taps + (6 + x) * kCount), out[x]);
  }
}

/// A row of G g G^T for the taps [channels][9][kGroup] of a group: `dst` is
/// [alpha][channels][kGroup]. Meanwhile `ahead`, as much as a row's part of these taps, is fetched
/// from memory.
template <int P, int kBlock, bool kOneTap>
HWY_INLINE void transform_weights_row(int row, const float* taps, int64_t channels,
                                      const float* ahead, float* dst) {
  constexpr int kAlpha = 2 * P + 2;
  constexpr int kCount = kGroup<kBlock>;
  using Points = WinogradPoints<P>;
  const BlockTag<kBlock> d;
  using V = hn::Vec<BlockTag<kBlock>>;
  // The first row takes the first tap alone, the last row the last.
  const bool last = kOneTap && row != 0;
  if (last) taps += 6 * kCount;
  const V first = hn::Set(d, static_cast<float>(Points::weight(row, last ? 2 : 0)));
  const V second = hn::Set(d, static_cast<float>(Points::weight(row, 1)));
  const V third = hn::Set(d, static_cast<float>(Points::weight(row, 2)));
  for (int64_t k = 0; k < channels; ++k, taps += 9 * kCount, dst += kCount) {
    constexpr int kAhead = 9 * kCount / kAlpha;
    for (int i = 0; i < kAhead; i += 16) __builtin_prefetch(ahead + k * kAhead + i, 0, 2);
#pragma GCC unroll 4
    for (int v = 0; v < kCount; v += kLanes<kBlock>) {
      V w[3];
      combine_taps<kBlock, kOneTap>(taps + v, first, second, third, w);
      const int64_t step = kLateRow<kBlock>;
      hn::Store(hn::Mul(hn::Set(d, static_cast<float>(Points::weight(0, 0))), w[0]), d, dst + v);
      hn::Store(w[2], d, dst + (kAlpha - 1) * step + v);
#pragma GCC unroll 4
      for (int pair = 0; pair < P; ++pair) {
        const int at = 2 * pair + 1;
        V even = hn::Mul(hn::Set(d, static_cast<float>(Points::weight(at, 0))), w[0]);
        even = hn::MulAdd(hn::Set(d, static_cast<float>(Points::weight(at, 2))), w[2], even);
        const V odd = hn::Set(d, static_cast<float>(Points::weight(at, 1)));
        hn::Store(hn::MulAdd(odd, w[1], even), d, dst + at * step + v);
        hn::Store(hn::NegMulAdd(odd, w[1], even), d, dst + (at + 1) * step + v);
      }
    }
  }
}

/// The products of one group at all points, one row of points after the other.
template <int P, int kBlock, int kColumns>
void multiply_all(const WinogradShape& shape, const float* transformed, int64_t tiles,
                  const float* packed, int64_t group, float* products) {
  constexpr int kAlpha = 2 * P + 2;
  constexpr int kCount = kGroup<kBlock>;
  constexpr int kBlocksAtOnce = kLateChannels / kBlock;
  const Strides strides(shape, tiles, kCount);
  const int64_t blocks = shape.ic_blocks();
  const int64_t panel = blocks * kBlock * kCount;
  if (!shape.late_weights) {
    const float* weights = packed + group * shape.points() * panel;
    // Point by point, since a point's weights stay in the first-level cache.
    for (int64_t point = 0; point < shape.points(); ++point) {
      multiply_points<kBlock, kColumns>(
          {1, blocks, transformed + point * strides.src_point, 0, strides.src_block,
           weights + point * panel, 0, false, products + point * strides.product_point, 0},
          tiles);
    }
    return;
  }
  // A row's weights for some channels and its products stay in the first-level cache.
  float* weights = products + shape.points() * strides.product_point;
  const float* taps = packed + group * 9 * panel;
  for (int64_t block = 0; block < blocks; block += kBlocksAtOnce) {
    const int64_t count = std::min<int64_t>(kBlocksAtOnce, blocks - block);
    const float* next = taps + count * kBlock * 9 * kCount;
    for (int row = 0; row < kAlpha; ++row) {
      const int64_t point = row * kAlpha;
      const PointRange range = {kAlpha,
                                count,
                                transformed + point * strides.src_point + block * strides.src_block,
                                strides.src_point,
                                strides.src_block,
                                weights,
                                kLateRow<kBlock>,
                                block > 0,
                                products + point * strides.product_point,
                                strides.product_point};
      const float* ahead = next + row * count * kBlock * (9 * kCount / kAlpha);
      if (row == 0 || row == kAlpha - 1) {
        transform_weights_row<P, kBlock, true>(row, taps, count * kBlock, ahead, weights);
      } else {
        transform_weights_row<P, kBlock, false>(row, taps, count * kBlock, ahead, weights);
      }
      multiply_points<kBlock, kColumns>(range, tiles);
    }
    taps = next;
  }
}

template <int P, int kBlock>
void multiply_group(const WinogradShape& shape, const float* transformed, int64_t first,
                    int64_t tiles, const float* packed, const float* bias, int64_t group,
                    const WinogradTail& tail, float* products, void* dst) {
  const int64_t begin = group * kGroup<kBlock>;
  const int64_t end = std::min(begin + kGroup<kBlock>, shape.oc_blocks() * kBlock);
  if (end - begin == kGroup<kBlock>) {
    multiply_all<P, kBlock, kVectors>(shape, transformed, tiles, packed, group, products);
  } else {
    multiply_all<P, kBlock, kVectors / 2>(shape, transformed, tiles, packed, group, products);
  }
  if (shape.dst.type == ElementType::BFloat16) {
    transform_dst<P, kBlock>(shape, products, first, tiles, bias, begin, end, tail,
                             static_cast<uint16_t*>(dst));
  } else {
    transform_dst<P, kBlock>(shape, products, first, tiles, bias, begin, end, tail,
                             static_cast<float*>(dst));
  }
}

template <class F>
HWY_INLINE void for_shape(const WinogradShape& shape, F f) {
  const auto with_block = [&](auto pairs) {
    if (shape.block == 16) return f(pairs, std::integral_constant<int, 16>());
    return f(pairs, std::integral_constant<int, 8>());
  };
  if (shape.m == 2) return with_block(std::integral_constant<int, 1>());
  if (shape.m == 4) return with_block(std::integral_constant<int, 2>());
  return with_block(std::integral_constant<int, 3>());
}

void src_of(const WinogradShape& shape, const void* src, int64_t first, int64_t tiles,
            int64_t block_begin, int64_t block_end, float* transformed) {
  for_shape(shape, [&](auto pairs, auto block) HWY_ATTR {
    if (shape.src.type == ElementType::BFloat16) {
      transform_src<pairs, block>(shape, static_cast<const uint16_t*>(src), first, tiles,
                                  block_begin, block_end, transformed);
    } else {
      transform_src<pairs, block>(shape, static_cast<const float*>(src), first, tiles, block_begin,
                                  block_end, transformed);
    }
  });
}

void group_of(const WinogradShape& shape, const float* transformed, int64_t first, int64_t tiles,
              const float* packed, const float* bias, int64_t group, const WinogradTail& tail,
              float* products, void* dst) {
  for_shape(shape, [&](auto pairs, auto block) HWY_ATTR {
    multiply_group<pairs, block>(shape, transformed, first, tiles, packed, bias, group, tail,
                                 products, dst);
  });
}

/// One dimension of G g: three rows of kLanes values become 2 P + 2.
template <int P, int kCount>
HWY_INLINE void transform_weights_line(const double (*in)[kCount], int64_t in_step,
                                       double (*out)[kCount], int64_t out_step) {
  using Points = WinogradPoints<P>;
#pragma GCC unroll 8
  for (int i = 0; i < 2 * P + 2; ++i) {
    constexpr int kTaps = 3;
    const double w[kTaps] = {Points::weight(i, 0), Points::weight(i, 1), Points::weight(i, 2)};
    for (int lane = 0; lane < kCount; ++lane) {
      out[i * out_step][lane] =
          w[0] * in[0][lane] + w[1] * in[in_step][lane] + w[2] * in[2 * in_step][lane];
    }
  }
}

/// All output channels of a group side by side, one input channel after the other.
template <int P, int kBlock>
void pack_weights(const WinogradShape& shape, const float* weights, int64_t group, float* packed) {
  constexpr int kAlpha = 2 * P + 2;
  constexpr int kCount = kGroup<kBlock>;
  const int64_t ic = shape.ic_blocks() * kBlock;
  const int64_t first = group * kCount;
  const int64_t count = std::min<int64_t>(kCount, shape.oc - first);
  float* to = packed + group * (shape.late_weights ? 9 : shape.points()) * ic * kCount;
  double kernel[9][kCount] = {};
  double rows[3 * kAlpha][kCount];
  double points[kAlpha * kAlpha][kCount];
  if (shape.late_weights) {
    std::fill_n(to, 9 * ic * kCount, 0.0f);
    for (int64_t k = 0; k < shape.ic; ++k) {
      for (int64_t i = 0; i < count; ++i) {
        const float* from = weights + ((first + i) * shape.ic + k) * 9;
        for (int tap = 0; tap < 9; ++tap) to[(k * 9 + tap) * kCount + i] = from[tap];
      }
    }
    return;
  }
  for (int64_t k = 0; k < ic; ++k, to += kCount) {
    if (k >= shape.ic) {
      for (int64_t point = 0; point < shape.points(); ++point) {
        std::fill_n(to + point * ic * kCount, kCount, 0.0f);
      }
      continue;
    }
    for (int64_t i = 0; i < count; ++i) {
      for (int tap = 0; tap < 9; ++tap) {
        kernel[tap][i] = static_cast<double>(weights[((first + i) * shape.ic + k) * 9 + tap]);
      }
    }
    for (int x = 0; x < 3; ++x) transform_weights_line<P, kCount>(kernel + x, 3, rows + x, 3);
    for (int y = 0; y < kAlpha; ++y) {
      transform_weights_line<P, kCount>(rows + y * 3, 1, points + y * kAlpha, 1);
    }
    for (int64_t point = 0; point < shape.points(); ++point) {
      for (int i = 0; i < kCount; ++i) {
        to[point * ic * kCount + i] = static_cast<float>(points[point][i]);
      }
    }
  }
}

void pack_group(const WinogradShape& shape, const float* weights, int64_t group, float* packed) {
  for_shape(shape, [&](auto pairs, auto block)
                       HWY_ATTR { pack_weights<pairs, block>(shape, weights, group, packed); });
}

int64_t group_size(int64_t block) {
  return block == 16 ? kGroup<16> : kGroup<8>;
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(src_of);
HWY_EXPORT(group_of);
HWY_EXPORT(pack_group);
HWY_EXPORT(group_size);

int64_t winograd_group(const WinogradShape& shape) {
  return HWY_DYNAMIC_DISPATCH(group_size)(shape.block);
}

size_t winograd_weights_count(const WinogradShape& shape) {
  return static_cast<size_t>(winograd_groups(shape) * winograd_group(shape) *
                             (shape.late_weights ? 9 : shape.points()) * shape.ic_blocks() *
                             shape.block);
}

size_t winograd_src_count(const WinogradShape& shape, int64_t tiles) {
  return static_cast<size_t>(shape.ic_blocks() * shape.points() * (tiles * shape.block + 16));
}

size_t winograd_products_count(const WinogradShape& shape, int64_t tiles) {
  const int64_t group = winograd_group(shape);
  const int64_t late = shape.late_weights ? shape.alpha() * (kLateChannels * group + 16) : 0;
  return static_cast<size_t>(shape.points() * (tiles * group + 16) + late);
}

void transform_winograd_src(const WinogradShape& shape, const void* src, int64_t first,
                            int64_t tiles, int64_t block_begin, int64_t block_end,
                            float* transformed) {
  HWY_DYNAMIC_DISPATCH(src_of)(shape, src, first, tiles, block_begin, block_end, transformed);
}

void multiply_winograd_group(const WinogradShape& shape, const float* transformed, int64_t first,
                             int64_t tiles, const float* packed, const float* bias, int64_t group,
                             const WinogradTail& tail, float* products, void* dst) {
  HWY_DYNAMIC_DISPATCH(group_of)
  (shape, transformed, first, tiles, packed, bias, group, tail, products, dst);
}

void pack_winograd_weights(const WinogradShape& shape, const float* weights, int64_t group,
                           float* packed) {
  HWY_DYNAMIC_DISPATCH(pack_group)(shape, weights, group, packed);
}

}  // namespace het::cpu
#endif
