#include "devices/cpu/depthwise_loops.h"

#include <algorithm>
#include <type_traits>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/depthwise_loops.cpp"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DepthwiseTag = hn::CappedTag<float, 16>;
using DepthwiseVector = hn::Vec<DepthwiseTag>;
constexpr int64_t kChannels = static_cast<int64_t>(hn::MaxLanes(DepthwiseTag()));

/// Rows and columns of the result that are summed together in registers.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int kSumRows = 2;
constexpr int kSumColumns = 7;
#else
constexpr int kSumRows = 1;
constexpr int kSumColumns = 4;
#endif
constexpr int kSums = kSumRows * kSumColumns;

HWY_INLINE DepthwiseVector load_values(const float* from) {
  return hn::LoadU(DepthwiseTag(), from);
}
HWY_INLINE DepthwiseVector load_values(const hwy::bfloat16_t* from) {
  const DepthwiseTag d;
  const hn::RebindToUnsigned<DepthwiseTag> du;
  const hn::Rebind<uint16_t, DepthwiseTag> dh;
  const auto bits = hn::LoadU(dh, reinterpret_cast<const uint16_t*>(from));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, bits)));
}
HWY_INLINE void store_bfloat16(DepthwiseVector v, hwy::bfloat16_t* to) {
  const hn::RebindToUnsigned<DepthwiseTag> du;
  const hn::RebindToSigned<DepthwiseTag> di;
  const hn::Rebind<uint16_t, DepthwiseTag> dh;
  const auto bits = hn::BitCast(du, v);
  // To the nearest, halves to even; NaN must not become infinite.
  const auto even = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  const auto rounded = hn::Add(bits, hn::Add(even, hn::Set(du, 0x7FFF)));
  const auto quiet = hn::Or(bits, hn::Set(du, 0x400000));
  const auto is_number = hn::RebindMask(du, hn::Eq(v, v));
  const auto upper = hn::ShiftRight<16>(hn::IfThenElse(is_number, rounded, quiet));
  hn::StoreU(hn::DemoteTo(dh, hn::BitCast(di, upper)), dh, reinterpret_cast<uint16_t*>(to));
}

/// One group of channels of one picture.
template <class T>
struct DepthwiseGroup {
  const T* padding;  ///< a pixel of it
  const T* src;
  int64_t src_row, src_pixel;
  const float* weights;
  const float* bias;
  const std::vector<DepthwiseOp>* ops;
  int64_t slopes;  ///< where those of the group begin
  std::byte* dst;
  int64_t dst_row, dst_pixel;  ///< in elements
};

HWY_INLINE DepthwiseVector depthwise_sigmoid(DepthwiseVector x) {
  const DepthwiseTag d;
  const auto limited = hn::Min(hn::Max(hn::Neg(x), hn::Set(d, -88.0f)), hn::Set(d, 88.0f));
  const auto one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, hn::Exp(d, limited)));
}

/// One operation on all sums, in registers.
HWY_INLINE void apply_depthwise(const DepthwiseOp& op, int64_t slopes, DepthwiseVector* sums) {
  const DepthwiseTag d;
  const auto zero = hn::Zero(d);
  const auto alpha = hn::Set(d, op.alpha);
  const auto beta = hn::Set(d, op.beta);
  switch (op.kind) {
    case DepthwiseOp::Kind::PRelu: {
      const auto slope = hn::LoadU(d, op.slopes.data() + slopes);
#pragma GCC unroll 14
      for (int i = 0; i < kSums; ++i) {
        sums[i] = hn::IfThenElse(hn::Lt(sums[i], zero), hn::Mul(sums[i], slope), sums[i]);
      }
      return;
    }
    case DepthwiseOp::Kind::Relu:
#pragma GCC unroll 14
      for (int i = 0; i < kSums; ++i) {
        sums[i] = hn::IfThenElse(hn::Lt(sums[i], zero), hn::Mul(sums[i], alpha), sums[i]);
      }
      return;
    case DepthwiseOp::Kind::Clip:
#pragma GCC unroll 14
      for (int i = 0; i < kSums; ++i) sums[i] = hn::Min(hn::Max(sums[i], alpha), beta);
      return;
    case DepthwiseOp::Kind::Linear:
#pragma GCC unroll 14
      for (int i = 0; i < kSums; ++i) sums[i] = hn::MulAdd(sums[i], alpha, beta);
      return;
    case DepthwiseOp::Kind::HardSwish:
#pragma GCC unroll 14
      for (int i = 0; i < kSums; ++i) {
        const auto gate = hn::MulAdd(sums[i], hn::Set(d, 1.0f / 6.0f), hn::Set(d, 0.5f));
        sums[i] = hn::Mul(sums[i], hn::Min(hn::Max(gate, zero), hn::Set(d, 1.0f)));
      }
      return;
    case DepthwiseOp::Kind::Sigmoid:
#pragma GCC unroll 14
      for (int i = 0; i < kSums; ++i) sums[i] = depthwise_sigmoid(sums[i]);
      return;
    case DepthwiseOp::Kind::Swish:
#pragma GCC unroll 14
      for (int i = 0; i < kSums; ++i) {
        sums[i] = hn::Mul(sums[i], depthwise_sigmoid(hn::Mul(sums[i], alpha)));
      }
      return;
  }
}

/// Where a tile of sums goes, and how much of it exists.
struct DepthwiseTile {
  int64_t y, x;
  int64_t rows, columns;
};

/// Operations and stores of the sums of a tile; kAll when all of them exist.
template <bool kAll, class T>
HWY_INLINE void finish_depthwise(const DepthwiseShape& shape, const DepthwiseGroup<T>& group,
                                 const DepthwiseTile& tile, DepthwiseVector* sums) {
  for (const DepthwiseOp& op : *group.ops) apply_depthwise(op, group.slopes, sums);
  const int64_t first = tile.y * group.dst_row + tile.x * group.dst_pixel;
  const auto store_all = [&](auto* dst, const auto& store) HWY_ATTR {
#pragma GCC unroll 2
    for (int r = 0; r < kSumRows; ++r) {
      auto* to = dst + first + r * group.dst_row;
      if (r >= tile.rows) break;
#pragma GCC unroll 8
      for (int t = 0; t < kSumColumns; ++t) {
        if (!kAll && t >= tile.columns) break;
        store(sums[r * kSumColumns + t], to);
        to += group.dst_pixel;
      }
    }
  };
  if (shape.dst == ElementType::BFloat16) {
    store_all(reinterpret_cast<hwy::bfloat16_t*>(group.dst),
              [](DepthwiseVector v, hwy::bfloat16_t* to) HWY_ATTR { store_bfloat16(v, to); });
  } else {
    store_all(reinterpret_cast<float*>(group.dst),
              [](DepthwiseVector v, float* to) HWY_ATTR { hn::StoreU(v, DepthwiseTag(), to); });
  }
}

/// A row of the source, or one pixel of padding that is all pixels of a missing one.
template <class T>
struct DepthwiseRow {
  DepthwiseRow(const DepthwiseShape& shape, const DepthwiseGroup<T>& group, int64_t y)
      : first(group.padding), pixel(0) {
    if (y < 0 || y >= shape.ih) return;
    first = group.src + y * group.src_row;
    pixel = group.src_pixel;
  }
  HWY_INLINE const T* at(int64_t x) const { return first + x * pixel; }
  const T* first;
  int64_t pixel;
};

HWY_INLINE void start_sums(const float* from, DepthwiseVector* sums) {
  const auto bias = hn::LoadU(DepthwiseTag(), from);
#pragma GCC unroll 14
  for (int i = 0; i < kSums; ++i) sums[i] = bias;
}

/// A tile for a dense 3x3 filter, which stays in registers; each column of the source is loaded
/// once. Rows of the source may be missing, and columns: kLeft in front, kRight at the end, or any
/// for kAny, where sums may be missing too.
template <int kStride, int kLeft, int kRight, bool kAny, class T>
HWY_NOINLINE void sum_tile_3x3(const DepthwiseShape& shape, const DepthwiseGroup<T>& group,
                               const DepthwiseTile& tile) {
  const DepthwiseTag d;
  constexpr int kInRows = (kSumRows - 1) * kStride + 3;
  constexpr int kInColumns = (kSumColumns - 1) * kStride + 3;
  const auto padding = hn::Zero(d);
  DepthwiseVector w[9];
#pragma GCC unroll 9
  for (int k = 0; k < 9; ++k) w[k] = hn::LoadU(d, group.weights + k * kChannels);
  DepthwiseVector sums[kSums];
  start_sums(group.bias, sums);
  const int64_t top = tile.y * kStride - shape.pad_top;
  const int64_t left = tile.x * kStride - shape.pad_left;
#pragma GCC unroll 5
  for (int i = 0; i < kInRows; ++i) {
    const DepthwiseRow<T> row(shape, group, top + i);
    const T* from = row.at(left + kLeft);
#pragma GCC unroll 15
    for (int c = 0; c < kInColumns; ++c) {
      auto value = padding;
      if (c >= kLeft && c < kInColumns - kRight) {
        if (!kAny || (left + c >= 0 && left + c < shape.iw)) value = load_values(from);
        from += row.pixel;
      }
#pragma GCC unroll 3
      for (int kx = 0; kx < 3; ++kx) {
        if (c < kx || (c - kx) % kStride != 0 || (c - kx) / kStride >= kSumColumns) continue;
        const int t = (c - kx) / kStride;
#pragma GCC unroll 2
        for (int r = 0; r < kSumRows; ++r) {
          const int ky = i - r * kStride;
          if (ky < 0 || ky > 2) continue;
          auto& sum = sums[r * kSumColumns + t];
          sum = hn::MulAdd(value, w[ky * 3 + kx], sum);
        }
      }
    }
  }
  finish_depthwise<!kAny>(shape, group, tile, sums);
}

/// A tile for any filter.
template <class T>
HWY_NOINLINE void sum_tile(const DepthwiseShape& shape, const DepthwiseGroup<T>& group,
                           const DepthwiseTile& tile) {
  const DepthwiseTag d;
  const auto padding = hn::Zero(d);
  DepthwiseVector sums[kSums];
  start_sums(group.bias, sums);
  const int64_t top = tile.y * shape.stride_y - shape.pad_top;
  const int64_t left = tile.x * shape.stride_x - shape.pad_left;
  const float* weights = group.weights;
  for (int64_t ky = 0; ky < shape.kh; ++ky) {
    const int64_t y = top + ky * shape.dilation_y;
    for (int64_t kx = 0; kx < shape.kw; ++kx, weights += kChannels) {
      const auto w = hn::LoadU(d, weights);
      const int64_t x = left + kx * shape.dilation_x;
      const bool has_all = x >= 0 && x + (kSumColumns - 1) * shape.stride_x < shape.iw;
#pragma GCC unroll 2
      for (int r = 0; r < kSumRows; ++r) {
        const DepthwiseRow<T> row(shape, group, y + r * shape.stride_y);
        const int64_t step = row.pixel * shape.stride_x;
        const T* from = row.at(x);
        if (has_all) {
#pragma GCC unroll 8
          for (int t = 0; t < kSumColumns; ++t) {
            auto& sum = sums[r * kSumColumns + t];
            sum = hn::MulAdd(load_values(from), w, sum);
            from += step;
          }
          continue;
        }
#pragma GCC unroll 8
        for (int t = 0; t < kSumColumns; ++t) {
          const int64_t column = x + t * shape.stride_x;
          auto value = padding;
          if (column >= 0 && column < shape.iw) value = load_values(from);
          auto& sum = sums[r * kSumColumns + t];
          sum = hn::MulAdd(value, w, sum);
          from += step;
        }
      }
    }
  }
  finish_depthwise<false>(shape, group, tile, sums);
}

template <int kStride, class T>
void sum_row_3x3(const DepthwiseShape& shape, const DepthwiseGroup<T>& group,
                 const DepthwiseTile& tile) {
  constexpr int kInColumns = (kSumColumns - 1) * kStride + 3;
  const int64_t left = tile.x * kStride - shape.pad_left;
  const int64_t in_front = std::max<int64_t>(-left, 0);
  const int64_t behind = std::max<int64_t>(left + kInColumns - shape.iw, 0);
  if (tile.columns < kSumColumns || in_front > 1 || behind > 1) {
    return sum_tile_3x3<kStride, 0, 0, true>(shape, group, tile);
  }
  if (in_front == 0 && behind == 0) {
    return sum_tile_3x3<kStride, 0, 0, false>(shape, group, tile);
  }
  if (behind == 0) return sum_tile_3x3<kStride, 1, 0, false>(shape, group, tile);
  if (in_front == 0) return sum_tile_3x3<kStride, 0, 1, false>(shape, group, tile);
  sum_tile_3x3<kStride, 1, 1, false>(shape, group, tile);
}

/// All tiles of some rows, from left to right. The last one may begin in the one before.
template <class Sum>
HWY_INLINE void for_tiles(const DepthwiseShape& shape, int64_t y, const Sum& sum) {
  DepthwiseTile tile{y, 0, std::min<int64_t>(kSumRows, shape.oh - y),
                     std::min<int64_t>(kSumColumns, shape.ow)};
  for (int64_t next = 0; next < shape.ow; next += kSumColumns) {
    tile.x = std::max<int64_t>(std::min(next, shape.ow - kSumColumns), 0);
    sum(tile);
  }
}

bool is_small_filter(const DepthwiseShape& shape) {
  return shape.kh == 3 && shape.kw == 3 && shape.dilation_y == 1 && shape.dilation_x == 1 &&
         shape.stride_y == shape.stride_x && shape.stride_x <= 2;
}

int64_t groups_of(const DepthwiseShape& shape) {
  if (shape.block == 0) return (shape.channels + kChannels - 1) / kChannels;
  return (shape.channels + shape.block - 1) / shape.block * (shape.block / kChannels);
}

int64_t first_channel(const DepthwiseShape& shape, int64_t group) {
  const int64_t channel = group * kChannels;
  return shape.block == 0 ? std::min(channel, shape.channels - kChannels) : channel;
}

/// Where the first value of a group of channels lies, and the distances, in elements.
struct DepthwisePlace {
  int64_t first, row, pixel;
};
DepthwisePlace place_of(const DepthwiseShape& shape, int64_t n, int64_t group, int64_t h,
                        int64_t w) {
  const int64_t channel = first_channel(shape, group);
  if (shape.block == 0) {
    return {n * h * w * shape.channels + channel, w * shape.channels, shape.channels};
  }
  const int64_t blocks = (shape.channels + shape.block - 1) / shape.block;
  const int64_t plane = n * blocks + channel / shape.block;
  return {plane * h * w * shape.block + channel % shape.block, w * shape.block, shape.block};
}

/// The rows of one unit in one group of channels.
template <class T>
void run_group(const DepthwiseShape& shape, const T* src, const float* weights, const float* bias,
               const std::vector<DepthwiseOp>& ops, int64_t n, int64_t g, int64_t y,
               std::byte* dst) {
  const T padding[kChannels] = {};
  const DepthwisePlace from = place_of(shape, n, g, shape.ih, shape.iw);
  const DepthwisePlace to = place_of(shape, n, g, shape.oh, shape.ow);
  const DepthwiseGroup<T> group = {padding,
                                   src + from.first,
                                   from.row,
                                   from.pixel,
                                   weights + g * shape.taps() * kChannels,
                                   bias + g * kChannels,
                                   &ops,
                                   g * kChannels,
                                   dst + to.first * static_cast<int64_t>(byte_width(shape.dst)),
                                   to.row,
                                   to.pixel};
  if (!is_small_filter(shape)) {
    for_tiles(shape, y, [&](const DepthwiseTile& tile) { sum_tile(shape, group, tile); });
  } else if (shape.stride_x == 1) {
    for_tiles(shape, y, [&](const DepthwiseTile& tile) { sum_row_3x3<1>(shape, group, tile); });
  } else {
    for_tiles(shape, y, [&](const DepthwiseTile& tile) { sum_row_3x3<2>(shape, group, tile); });
  }
}

int64_t row_parts(const DepthwiseShape& shape) {
  return (shape.oh + kSumRows - 1) / kSumRows;
}

/// Groups of channels that are units of their own. Those of channels last may overlap, so one
/// thread takes all of some rows.
int64_t unit_groups(const DepthwiseShape& shape) {
  return shape.block == 0 ? 1 : groups_of(shape);
}

template <class T>
void run_units(const DepthwiseShape& shape, const T* src, const float* weights, const float* bias,
               const std::vector<DepthwiseOp>& ops, int64_t begin, int64_t end, std::byte* dst) {
  const int64_t parts = row_parts(shape);
  const int64_t groups = unit_groups(shape);
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t n = unit / (groups * parts);
    const int64_t y = unit % parts * kSumRows;
    if (shape.block > 0) {
      run_group(shape, src, weights, bias, ops, n, unit / parts % groups, y, dst);
      continue;
    }
    for (int64_t g = 0; g < groups_of(shape); ++g) {
      run_group(shape, src, weights, bias, ops, n, g, y, dst);
    }
  }
}

void run_all(const DepthwiseShape& shape, const std::byte* src, const float* weights,
             const float* bias, const std::vector<DepthwiseOp>& ops, int64_t begin, int64_t end,
             std::byte* dst) {
  const auto with = [&](const auto* values) {
    run_units(shape, values, weights, bias, ops, begin, end, dst);
  };
  if (shape.src == ElementType::BFloat16) {
    with(reinterpret_cast<const hwy::bfloat16_t*>(src));
  } else {
    with(reinterpret_cast<const float*>(src));
  }
}

int64_t units_of(const DepthwiseShape& shape) {
  return shape.n * unit_groups(shape) * row_parts(shape);
}

int64_t channels_of_group() {
  return kChannels;
}

std::vector<float> packed_by_group(const DepthwiseShape& shape, const float* values,
                                   int64_t count) {
  const int64_t groups = groups_of(shape);
  std::vector<float> packed(static_cast<size_t>(groups * count * kChannels), 0.0f);
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t first = first_channel(shape, g);
    for (int64_t lane = 0; lane < std::min(kChannels, shape.channels - first); ++lane) {
      for (int64_t i = 0; i < count; ++i) {
        packed[static_cast<size_t>((g * count + i) * kChannels + lane)] =
            values[(first + lane) * count + i];
      }
    }
  }
  return packed;
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(run_all);
HWY_EXPORT(units_of);
HWY_EXPORT(channels_of_group);
HWY_EXPORT(packed_by_group);

int64_t depthwise_lanes() {
  return HWY_DYNAMIC_DISPATCH(channels_of_group)();
}

std::vector<float> pack_depthwise(const DepthwiseShape& shape, const float* values, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(packed_by_group)(shape, values, count);
}

int64_t depthwise_units(const DepthwiseShape& shape) {
  return HWY_DYNAMIC_DISPATCH(units_of)(shape);
}

void run_depthwise(const DepthwiseShape& shape, const std::byte* src, const float* weights,
                   const float* bias, const std::vector<DepthwiseOp>& ops, int64_t begin,
                   int64_t end, std::byte* dst) {
  HWY_DYNAMIC_DISPATCH(run_all)(shape, src, weights, bias, ops, begin, end, dst);
}

}  // namespace het::cpu
#endif
