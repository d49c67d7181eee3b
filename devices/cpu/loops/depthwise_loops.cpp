#include "devices/cpu/loops/depthwise_loops.h"

#include <algorithm>
#include <type_traits>
#include <utility>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/depthwise_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "devices/cpu/loops/extremes-inl.h"

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
#else
constexpr int kSumRows = 1;
#endif
constexpr int kSumColumns = 7;
constexpr int kSums = kSumRows * kSumColumns;

/// False for what any x86 has, which no machine runs that is made for this: loops of their own for
/// square filters cost it a sixth of the time that this file takes to compile.
constexpr bool kHasSquares = !(HWY_ARCH_X86 && HWY_TARGET > HWY_SSE4);

/// For bodies of unrolled().
#define HET_INLINE_BODY HWY_ATTR __attribute__((always_inline))

/// body(0) ... body(kCount - 1) with constants. Vectors of an array stay in registers for certain
/// only where all indices are constants before loops are unrolled.
template <class Body, int... kIndices>
HWY_INLINE void for_each_index(const Body& body, std::integer_sequence<int, kIndices...>) {
  (body(std::integral_constant<int, kIndices>()), ...);
}
template <int kCount, class Body>
HWY_INLINE void unrolled(const Body& body) {
  for_each_index(body, std::make_integer_sequence<int, kCount>());
}

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
  const auto limited = clamped(hn::Neg(x), hn::Set(d, -88.0f), hn::Set(d, 88.0f));
  const auto one = hn::Set(d, 1.0f);
  return nan_of(x, hn::Div(one, hn::Add(one, hn::Exp(d, limited))));
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
      for (int i = 0; i < kSums; ++i) sums[i] = clamped(sums[i], alpha, beta);
      return;
    case DepthwiseOp::Kind::Linear:
#pragma GCC unroll 14
      for (int i = 0; i < kSums; ++i) sums[i] = hn::MulAdd(sums[i], alpha, beta);
      return;
    case DepthwiseOp::Kind::HardSwish:
#pragma GCC unroll 14
      for (int i = 0; i < kSums; ++i) {
        const auto gate = hn::MulAdd(sums[i], hn::Set(d, 1.0f / 6.0f), hn::Set(d, 0.5f));
        sums[i] = hn::Mul(sums[i], clamped(gate, zero, hn::Set(d, 1.0f)));
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

HWY_NOINLINE void apply_rest(const DepthwiseOp* op, const DepthwiseOp* end, int64_t slopes,
                             DepthwiseVector* sums) {
  for (; op != end; ++op) apply_depthwise(*op, slopes, sums);
}

/// Operations on the sums of a tile. A limit in front of them does not leave the registers.
struct DepthwiseTail {
  explicit DepthwiseTail(const std::vector<DepthwiseOp>& ops)
      : rest(ops.data()), end(rest + ops.size()) {
    if (rest == end) return;
    has_relu = rest->kind == DepthwiseOp::Kind::Relu && rest->alpha == 0.0f;
    has_limits = rest->kind == DepthwiseOp::Kind::Clip;
    if (has_limits) {
      low = rest->alpha;
      high = rest->beta;
    }
    if (has_relu || has_limits) ++rest;
  }
  HWY_INLINE void apply(int64_t slopes, DepthwiseVector* sums) const {
    const DepthwiseTag d;
    if (has_limits) {
      const auto least = hn::Set(d, low);
      const auto most = hn::Set(d, high);
      unrolled<kSums>([&](auto i) HET_INLINE_BODY { sums[i] = clamped(sums[i], least, most); });
    } else if (has_relu) {
      const auto zero = hn::Zero(d);
      unrolled<kSums>([&](auto i) HET_INLINE_BODY {
        sums[i] = hn::IfThenZeroElse(hn::Lt(sums[i], zero), sums[i]);
      });
    }
    if (rest == end) return;
    // A copy: the sums themselves need not lie in memory then.
    DepthwiseVector copy[kSums];
    unrolled<kSums>([&](auto i) HET_INLINE_BODY { copy[i] = sums[i]; });
    apply_rest(rest, end, slopes, copy);
    unrolled<kSums>([&](auto i) HET_INLINE_BODY { sums[i] = copy[i]; });
  }
  bool has_relu = false;
  bool has_limits = false;
  float low = 0.0f;
  float high = 0.0f;
  const DepthwiseOp* rest;
  const DepthwiseOp* end;
};

/// Where a tile of sums goes, and how much of it exists.
struct DepthwiseTile {
  int64_t y, x;
  int64_t rows, columns;
};

/// Operations and stores of the sums of a tile; kAll when all of them exist, kDense when pixels lie
/// one vector apart.
template <bool kAll, bool kDense, class T>
HWY_INLINE void finish_depthwise(const DepthwiseShape& shape, const DepthwiseGroup<T>& group,
                                 const DepthwiseTail& tail, const DepthwiseTile& tile,
                                 DepthwiseVector* sums) {
  tail.apply(group.slopes, sums);
  const int64_t pixel = kDense ? kChannels : group.dst_pixel;
  const int64_t first = tile.y * group.dst_row + tile.x * pixel;
  const auto store_all = [&](auto* dst, const auto& store) HET_INLINE_BODY {
    unrolled<kSums>([&](auto i) HET_INLINE_BODY {
      constexpr int r = i / kSumColumns;
      constexpr int t = i % kSumColumns;
      if (r > 0 && r >= tile.rows) return;
      if (!kAll && t >= tile.columns) return;
      store(sums[i], dst + first + r * group.dst_row + t * pixel);
    });
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
  unrolled<kSums>([&](auto i) HET_INLINE_BODY { sums[i] = bias; });
}

/// How the tiles of a filter of kFilter x kFilter without dilation are summed.
template <int kFilterSize, int kStep, bool kDensePixels>
struct SquareFilter {
  static constexpr int kFilter = kFilterSize;
  static constexpr int kStride = kStep;
  static constexpr bool kDense = kDensePixels;
  static constexpr int kPadding = kFilter / 2;
  static constexpr int kInRows = (kSumRows - 1) * kStride + kFilter;
  static constexpr int kInColumns = (kSumColumns - 1) * kStride + kFilter;
};

/// The rows of the source that some rows of the result need.
template <class Filter, class T>
struct SquareRows {
  SquareRows(const DepthwiseShape& shape, const DepthwiseGroup<T>& group, int64_t y) {
    const int64_t top = y * Filter::kStride - shape.pad_top;
    for (int i = 0; i < Filter::kInRows; ++i) {
      const bool is_there = top + i >= 0 && top + i < shape.ih;
      at[i] = is_there ? group.src + (top + i) * group.src_row : nullptr;
    }
  }
  const T* at[Filter::kInRows];  ///< null for a missing one
};

/// One tile with all its sums; each column of the source is loaded once. Columns are missing: kLeft
/// in front, kRight at the end.
template <class Filter, int kLeft, int kRight, class T>
HWY_INLINE void sum_square_tile(const DepthwiseShape& shape, const DepthwiseGroup<T>& group,
                                const DepthwiseTail& tail, const SquareRows<Filter, T>& rows,
                                const DepthwiseTile& tile) {
  constexpr int kFilter = Filter::kFilter;
  constexpr int kStride = Filter::kStride;
  const DepthwiseTag d;
  const int64_t pixel = Filter::kDense ? kChannels : group.src_pixel;
  const int64_t left = tile.x * kStride - shape.pad_left;
  DepthwiseVector sums[kSums];
  start_sums(group.bias, sums);
  unrolled<Filter::kInRows>([&](auto i) HET_INLINE_BODY {
    if (rows.at[i] == nullptr) return;
    const T* from = rows.at[i] + (left + kLeft) * pixel;
    // Rows of the result that this row of the source meets, and their rows of the filter.
    constexpr int kFirstRow = i < kFilter ? 0 : (i - kFilter) / kStride + 1;
    constexpr int kMetRows = std::min(i / kStride, kSumRows - 1) - kFirstRow + 1;
    DepthwiseVector w[kSumRows][kFilter];
    unrolled<kMetRows * kFilter>([&](auto k) HET_INLINE_BODY {
      constexpr int r = kFirstRow + k / kFilter;
      constexpr int ky = i - r * kStride;
      w[r][k % kFilter] = hn::LoadU(d, group.weights + (ky * kFilter + k % kFilter) * kChannels);
    });
    unrolled<Filter::kInColumns>([&](auto c) HET_INLINE_BODY {
      if constexpr (c < kLeft || c >= Filter::kInColumns - kRight) return;
      const auto value = load_values(from + (c - kLeft) * pixel);
      // Columns of the result that this column of the source meets, and no others: the compiler
      // makes a function of each.
      constexpr int kFirst = c < kFilter ? 0 : (c - kFilter) / kStride + 1;
      constexpr int kLast = std::min(c / kStride, kSumColumns - 1);
      unrolled<kMetRows*(kLast - kFirst + 1)>([&](auto k) HET_INLINE_BODY {
        constexpr int r = kFirstRow + k % kMetRows;
        constexpr int t = kFirst + k / kMetRows;
        auto& sum = sums[r * kSumColumns + t];
        sum = hn::MulAdd(value, w[r][c - t * kStride], sum);
      });
    });
  });
  finish_depthwise<true, Filter::kDense>(shape, group, tail, tile, sums);
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
  finish_depthwise<false, false>(shape, group, DepthwiseTail(*group.ops), tile, sums);
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

/// The same for a square filter.
template <class Filter, class T>
HWY_NOINLINE void sum_square(const DepthwiseShape& shape, const DepthwiseGroup<T>& group,
                             int64_t y) {
  constexpr int kPadding = Filter::kPadding;
  const SquareRows<Filter, T> rows(shape, group, y);
  const DepthwiseTail tail(*group.ops);
  for_tiles(shape, y, [&](const DepthwiseTile& tile) HET_INLINE_BODY {
    const int64_t left = tile.x * Filter::kStride - shape.pad_left;
    const int64_t in_front = std::max<int64_t>(-left, 0);
    const int64_t behind = std::max<int64_t>(left + Filter::kInColumns - shape.iw, 0);
    const bool is_usual = tile.columns == kSumColumns && (in_front == 0 || in_front == kPadding) &&
                          (behind == 0 || behind == kPadding);
    if (!is_usual) {
      sum_tile(shape, group, tile);
    } else if (in_front == 0 && behind == 0) {
      sum_square_tile<Filter, 0, 0>(shape, group, tail, rows, tile);
    } else if (behind == 0) {
      sum_square_tile<Filter, kPadding, 0>(shape, group, tail, rows, tile);
    } else if (in_front == 0) {
      sum_square_tile<Filter, 0, kPadding>(shape, group, tail, rows, tile);
    } else {
      sum_square_tile<Filter, kPadding, kPadding>(shape, group, tail, rows, tile);
    }
  });
}

bool is_square(const DepthwiseShape& shape, int64_t filter) {
  return shape.kh == filter && shape.kw == filter && shape.dilation_y == 1 &&
         shape.dilation_x == 1 && shape.stride_y == shape.stride_x && shape.stride_x <= 2;
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

template <int kFilter, bool kDense, class T>
void sum_square_of(const DepthwiseShape& shape, const DepthwiseGroup<T>& group, int64_t y) {
  if (shape.stride_x == 1) {
    sum_square<SquareFilter<kFilter, 1, kDense>>(shape, group, y);
  } else {
    sum_square<SquareFilter<kFilter, 2, kDense>>(shape, group, y);
  }
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
  if constexpr (kHasSquares) {
    const bool dense = group.src_pixel == kChannels && group.dst_pixel == kChannels;
    if constexpr (std::is_same_v<T, float>) {
      if (dense && is_square(shape, 3)) return sum_square_of<3, true>(shape, group, y);
      if (dense && is_square(shape, 5)) return sum_square_of<5, true>(shape, group, y);
    }
    if (is_square(shape, 3)) return sum_square_of<3, false>(shape, group, y);
  }
  for_tiles(shape, y, [&](const DepthwiseTile& tile) { sum_tile(shape, group, tile); });
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
