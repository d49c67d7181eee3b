// The products of Winograd's algorithms: transformed tiles times weights, and how both lie in the
// scratch memory. Included after hwy/highway.h, once per instruction set.
#include <hwy/highway.h>

#include <cstdint>

#include "devices/cpu/loops/winograd_loops.h"

#if defined(HET_WINOGRAD_PRODUCTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HET_WINOGRAD_PRODUCTS_INL_H
#undef HET_WINOGRAD_PRODUCTS_INL_H
#else
#define HET_WINOGRAD_PRODUCTS_INL_H
#endif

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
struct WinogradStrides {
  WinogradStrides(const WinogradShape& shape, int64_t tiles, int64_t group)
      : src_point(tiles * shape.block + 16),
        src_block(shape.src_values() * src_point),
        product_point(tiles * group + 16) {}
  int64_t src_point, src_block, product_point;
};

/// One of the sums of products that are added up at a point.
struct ProductTerm {
  const float* src;
  const float* weights;
  int64_t weights_point;  ///< from one point's weights to those of the next, 0 for the same ones
};

/// Products at some points that follow each other, over the same blocks of input channels.
struct PointRange {
  int64_t points, ic_blocks;
  int term_count;
  ProductTerm terms[4];
  int64_t src_point, src_block;
  bool add;  ///< to what dst holds
  float* dst;
  int64_t dst_point;
};

/// kRows tiles from `first` on times kColumns vectors at one point, in registers.
template <int kBlock, int kRows, int kColumns>
HWY_INLINE void multiply_tile(const PointRange& range, int64_t point, int64_t first) {
  const BlockTag<kBlock> d;
  using V = hn::Vec<BlockTag<kBlock>>;
  constexpr int kWidth = kLanes<kBlock>;
  float* HWY_RESTRICT dst = range.dst + point * range.dst_point + first * kGroup<kBlock>;
  V sums[kRows][kColumns];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int k = 0; k < kColumns; ++k) sums[r][k] = hn::Zero(d);
  }
  if (range.add) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int k = 0; k < kColumns; ++k) {
        sums[r][k] = hn::Load(d, dst + r * kGroup<kBlock> + k * kWidth);
      }
    }
  }
  for (int term = 0; term < range.term_count; ++term) {
    const ProductTerm& t = range.terms[term];
    const float* HWY_RESTRICT src = t.src + point * range.src_point + first * kBlock;
    const float* HWY_RESTRICT weights = t.weights + point * t.weights_point;
    for (int64_t block = 0; block < range.ic_blocks; ++block) {
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
      src += range.src_block;
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int k = 0; k < kColumns; ++k) {
      hn::Store(sums[r][k], d, dst + r * kGroup<kBlock> + k * kWidth);
    }
  }
}

template <int kBlock, int kColumns, int kRows = kTiles>
HWY_INLINE void multiply_rows(const PointRange& range, int64_t first, int64_t rows) {
  if constexpr (kRows > 0) {
    if (rows != kRows) return multiply_rows<kBlock, kColumns, kRows - 1>(range, first, rows);
    for (int64_t point = 0; point < range.points; ++point) {
      multiply_tile<kBlock, kRows, kColumns>(range, point, first);
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

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#endif  // per instruction set
