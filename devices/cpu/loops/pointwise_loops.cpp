#include "devices/cpu/loops/pointwise_loops.h"

#include "devices/cpu/loops/gemm_loops.h"

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/pointwise_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/extremes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using PointwiseTag = hn::CappedTag<float, 16>;
using PointwiseVector = hn::Vec<PointwiseTag>;
constexpr int64_t kPointwiseLanes = static_cast<int64_t>(hn::MaxLanes(PointwiseTag()));
/// A tile's sums, two vectors of weights and one of a pixel fill the registers.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int kPointwiseRows = 14;
#elif HWY_TARGET == HWY_AVX2
constexpr int kPointwiseRows = 6;
#else
constexpr int kPointwiseRows = 4;
#endif

/// Weights that are behind those in use by so much are fetched in time from memory.
constexpr int64_t kSoon = 512;

int64_t lanes_of_block() {
  return kPointwiseLanes;
}

int64_t rows_of_tile() {
  return kPointwiseRows;
}

/// One register tile: pixels times the columns of a panel.
struct PointwiseTile {
  const float* src;    ///< the first pixel, in the slice's first block
  int64_t src_block;   ///< from block to block of src
  int64_t depth;       ///< channels of the slice
  const float* panel;  ///< of the slice
  const char* next;    ///< fetched meanwhile, two lines at a time
  int64_t next_step;
  const float* bias;  ///< null for none
  const float* sum;   ///< as in PointwiseTail
  bool clip;
  float low, high;
  int64_t last_lanes;  ///< of the last vector of columns: what is behind becomes 0
  float* dst;
  int64_t dst_block;
};

template <int kUsed, int kColumns>
void multiply_tile(const PointwiseTile& tile) {
  const PointwiseTag d;
  PointwiseVector sums[kUsed][kColumns];
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kColumns; ++v) {
      sums[r][v] =
          tile.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, tile.bias + v * kPointwiseLanes);
    }
  }
  const float* panel = tile.panel;
  const char* next = tile.next;
  const int64_t step = tile.next_step;
  const float* block = tile.src;
  for (int64_t begin = 0; begin < tile.depth; begin += kPointwiseLanes) {
    const float* const end = block + std::min(kPointwiseLanes, tile.depth - begin);
    for (const float* src = block; src < end; ++src) {
      PointwiseVector w[kColumns];
#pragma GCC unroll 2
      for (int v = 0; v < kColumns; ++v) w[v] = hn::Load(d, panel + v * kPointwiseLanes);
      panel += 2 * kPointwiseLanes;
      __builtin_prefetch(next, 0, 2);
      __builtin_prefetch(next + 64, 0, 2);
      next += step;
#pragma GCC unroll 14
      for (int r = 0; r < kUsed; ++r) {
        const PointwiseVector x = hn::Set(d, src[r * kPointwiseLanes]);
#pragma GCC unroll 2
        for (int v = 0; v < kColumns; ++v) sums[r][v] = hn::MulAdd(x, w[v], sums[r][v]);
      }
    }
    block += tile.src_block;
  }
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kColumns; ++v) {
      const int64_t at = v * tile.dst_block + r * kPointwiseLanes;
      PointwiseVector value = sums[r][v];
      if (tile.sum != nullptr) value = hn::Add(value, hn::LoadU(d, tile.sum + at));
      if (tile.clip) value = clamped(value, hn::Set(d, tile.low), hn::Set(d, tile.high));
      if (v == kColumns - 1 && tile.last_lanes < kPointwiseLanes) {
        value = hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(tile.last_lanes)), value);
      }
      hn::StoreU(value, d, tile.dst + at);
    }
  }
}

/// Calls a tile's function for a number of rows up to kMost.
template <int kMost, int kColumns>
HWY_INLINE void multiply_tile_rows(int64_t rows, const PointwiseTile& tile) {
  if constexpr (kMost > 1) {
    if (rows < kMost) return multiply_tile_rows<kMost - 1, kColumns>(rows, tile);
  }
  multiply_tile<kMost, kColumns>(tile);
}

void multiply_part(const PointwiseShape& shape, const PointwisePart& part, const float* src,
                   const float* packed, const float* bias, const PointwiseTail& tail, float* dst) {
  const int64_t picture_block = shape.pixels * kPointwiseLanes;
  const int64_t rows = part.pixels_end - part.pixels_begin;
  if (rows <= 0) return;
  // Rows are spread evenly over the tiles: short ones would waste loads of weights.
  const int64_t tiles = (rows + kPointwiseRows - 1) / kPointwiseRows;
  const auto first_row = [&](int64_t tile) { return part.pixels_begin + rows * tile / tiles; };
  const int64_t slices = shape.slices();
  for (int64_t slice = 0; slice < slices; ++slice) {
    const int64_t first = shape.first_of(slice);
    const int64_t depth = shape.first_of(slice + 1) - first;
    const int64_t panel_values = depth * 2 * kPointwiseLanes;
    const float* const weights = packed + first * 2 * kPointwiseLanes * shape.panels();
    // Every line of the next panel is fetched by one of the tiles: steps are rounded up.
    const int64_t share = (panel_values * static_cast<int64_t>(sizeof(float)) + tiles - 1) / tiles;
    const int64_t step = (share + depth - 1) / depth;
    // The slices behind the first one add to what is there.
    const float* const added = slice == 0 ? tail.sum : dst;
    for (int64_t panel = part.panels_begin; panel < part.panels_end; ++panel) {
      const float* const from = weights + panel * panel_values;
      // Nothing is fetched behind the last panel: the same lines again cost nothing. A single tile
      // reads weights as fast as they come, and fetches what it needs soon.
      const int64_t ahead = tiles == 1 ? kSoon : panel + 1 < shape.panels() ? panel_values : 0;
      const auto* next = reinterpret_cast<const char*>(from + ahead);
      const int64_t column = panel * 2 * kPointwiseLanes;
      const int64_t columns = std::min(shape.oc - column, 2 * kPointwiseLanes);
      PointwiseTile tile{};
      tile.src_block = picture_block;
      tile.depth = depth;
      tile.panel = from;
      tile.next_step = step;
      tile.bias = slice == 0 ? bias + column : nullptr;
      tile.clip = tail.clip && slice == slices - 1;
      tile.low = tail.low;
      tile.high = tail.high;
      tile.last_lanes = (columns - 1) % kPointwiseLanes + 1;
      tile.dst_block = picture_block;
      for (int64_t t = 0; t < tiles; ++t) {
        const int64_t row = first_row(t);
        const int64_t offset = panel * 2 * picture_block + row * kPointwiseLanes;
        tile.src = src + first / kPointwiseLanes * picture_block + row * kPointwiseLanes;
        tile.next = next + t * share;
        tile.sum = added == nullptr ? nullptr : added + offset;
        tile.dst = dst + offset;
        if (columns > kPointwiseLanes) {
          multiply_tile_rows<kPointwiseRows, 2>(first_row(t + 1) - row, tile);
        } else {
          multiply_tile_rows<kPointwiseRows, 1>(first_row(t + 1) - row, tile);
        }
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(lanes_of_block);
HWY_EXPORT(rows_of_tile);
HWY_EXPORT(multiply_part);

int64_t pointwise_block() {
  return HWY_DYNAMIC_DISPATCH(lanes_of_block)();
}

int64_t pointwise_rows() {
  return HWY_DYNAMIC_DISPATCH(rows_of_tile)();
}

void pack_pointwise_panels(const PointwiseShape& shape, const float* weights, int64_t begin,
                           int64_t end, float* packed) {
  for (int64_t slice = 0; slice < shape.slices(); ++slice) {
    const int64_t first = shape.first_of(slice);
    const GemmShape gemm{shape.pixels, shape.first_of(slice + 1) - first, shape.oc};
    pack_gemm_panels(gemm, weights + first, 1, shape.ic, begin, end,
                     packed + first * 2 * shape.block * shape.panels());
  }
}

void multiply_pointwise(const PointwiseShape& shape, const PointwisePart& part, const float* src,
                        const float* packed, const float* bias, const PointwiseTail& tail,
                        float* dst) {
  HWY_DYNAMIC_DISPATCH(multiply_part)(shape, part, src, packed, bias, tail, dst);
}

}  // namespace het::cpu
#endif
