// The source of Winograd's algorithms, tile by tile: at borders, of any format, transformed.
// Included after hwy/highway.h, once per instruction set.
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "devices/cpu/loops/channel_values-inl.h"
#include "devices/cpu/loops/winograd_loops.h"
#include "devices/cpu/loops/winograd_products-inl.h"

#if defined(HET_WINOGRAD_SOURCE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HET_WINOGRAD_SOURCE_INL_H
#undef HET_WINOGRAD_SOURCE_INL_H
#else
#define HET_WINOGRAD_SOURCE_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// B^T d B of one tile of one block by Source::transform() in each dimension; `row` values from row
/// to row of `src`.
template <class D, class Source, class T>
HWY_INLINE void transform_src_tile(D d, int block, const T* src, int64_t row, int64_t pixel,
                                   int64_t point, float* dst) {
  using V = hn::Vec<D>;
  constexpr int kSide = Source::kSide;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int part = 0; part < block; part += lanes) {
    HWY_ALIGN float columns[kSide * kSide * hn::MaxLanes(d)];
    for (int x = 0; x < kSide; ++x) {
      V in[kSide];
      V out[kSide];
#pragma GCC unroll 16
      for (int y = 0; y < kSide; ++y) {
        in[y] = load_channels(d, src + part + y * row + x * pixel);
      }
      Source::transform(d, in, out);
#pragma GCC unroll 16
      for (int y = 0; y < kSide; ++y) hn::Store(out[y], d, columns + (y * kSide + x) * lanes);
    }
    for (int y = 0; y < kSide; ++y) {
      V in[kSide];
      V out[kSide];
#pragma GCC unroll 16
      for (int x = 0; x < kSide; ++x) in[x] = hn::Load(d, columns + (y * kSide + x) * lanes);
      Source::transform(d, in, out);
      float* to = dst + part + y * kSide * point;
#pragma GCC unroll 16
      for (int x = 0; x < kSide; ++x) hn::Store(out[x], d, to + x * point);
    }
  }
}

/// The tile at row `top` and column `left` of a plane that does not have all of it, or has fewer
/// channels than a block: with zeros for the rest. Vector by vector: compilers make slow calls of
/// such small fills and copies.
template <int kBlock, int kSide, class T>
HWY_INLINE void copy_border_tile(const WinogradShape& shape, const WinogradSteps& steps,
                                 int64_t channels, const T* plane, int64_t top, int64_t left,
                                 float* dst) {
  const BlockTag<kBlock> d;
  for (int64_t y = top; y < top + kSide; ++y) {
    for (int64_t x = left; x < left + kSide; ++x, dst += kBlock) {
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

/// A source has kSide values in each dimension of a tile, and stride * m from tile to tile.
template <class Source, int kBlock, class T>
void transform_src(const WinogradShape& shape, const T* src, int64_t first, int64_t tiles,
                   int64_t block_begin, int64_t block_end, float* transformed) {
  constexpr int kSide = Source::kSide;
  const BlockTag<kBlock> d;
  const WinogradStrides strides(shape, tiles, 0);
  const WinogradSteps steps = shape.src_steps();
  HWY_ALIGN float padded[kSide * kSide * kBlock];
  const auto transform = [&](const WinogradShape::Tile& tile, int64_t t, int64_t block) HWY_ATTR {
    const T* plane = src + tile.n * steps.image + block * steps.block;
    float* to = transformed + block * strides.src_block + t * kBlock;
    const int64_t channels = channels_of_block(shape, shape.src, shape.ic, block);
    const int64_t y = tile.y * shape.stride - shape.pad_top;
    const int64_t x = tile.x * shape.stride - shape.pad_left;
    if (y >= 0 && x >= 0 && y + kSide <= shape.ih && x + kSide <= shape.iw && channels == kBlock) {
      transform_src_tile<BlockTag<kBlock>, Source>(d, kBlock,
                                                   plane + y * steps.row + x * steps.pixel,
                                                   steps.row, steps.pixel, strides.src_point, to);
      return;
    }
    copy_border_tile<kBlock, kSide>(shape, steps, channels, plane, y, x, padded);
    transform_src_tile<BlockTag<kBlock>, Source>(d, kBlock, padded, kSide * kBlock, kBlock,
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

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#endif  // per instruction set
