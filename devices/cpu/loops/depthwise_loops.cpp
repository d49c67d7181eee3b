#include "devices/cpu/loops/depthwise_loops.h"

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

// Compiled once per instruction set; the processor's best is chosen at the
// first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/depthwise_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/depthwise_pairs-inl.h"
#include "devices/cpu/loops/depthwise_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// False for what any x86 has, which no machine runs that is made for this:
/// loops of their own for square filters cost it a sixth of the time that this
/// file takes to compile.
constexpr bool kHasSquares = !(HWY_ARCH_X86 && HWY_TARGET > HWY_SSE4);

/// One row of src times kRows rows of the filter, one for each row of the
/// result from kFirst on; each column is loaded once. Those that are there have
/// a bit of `present`.
template <class Filter, int kFirst, int kRows, Edge kEdge, class T>
HWY_INLINE void add_row(const T* from, const DepthwiseGroup<T>& group, uint32_t present,
                        const float* first_weights, const float* second_weights,
                        DepthwiseVector* sums) {
  const DepthwiseTag d;
  constexpr int kWidth = Filter::kWidth;
  constexpr int kStride = Filter::kStride;
  const int64_t pixel = group.src_pixel;
  DepthwiseVector w[kRows][kWidth];
  unrolled<kWidth>([&](auto k) HET_INLINE_BODY {
    w[0][k] = hn::LoadU(d, first_weights + k * kChannels);
    if constexpr (kRows > 1) w[1][k] = hn::LoadU(d, second_weights + k * kChannels);
  });
  unrolled<Filter::kColumns>([&](auto c) HET_INLINE_BODY {
    const T* const at = from;
    from += pixel;
    constexpr bool kMayMiss =
        kEdge == Edge::Any ||
        (kEdge == Edge::Near && (c < kWidth / 2 || c >= Filter::kColumns - kWidth / 2));
    if (kMayMiss && (present & (1u << c)) == 0) return;
    const auto value = load_channels(d, at);
    // Columns of the result that this column of the source meets, and no
    // others: the compiler makes a function of each.
    constexpr int kNear = c < kWidth ? 0 : (c - kWidth) / kStride + 1;
    constexpr int kFar = std::min(c / kStride, kSumColumns - 1);
    unrolled<kRows*(kFar - kNear + 1)>([&](auto k) HET_INLINE_BODY {
      constexpr int r = k % kRows;
      constexpr int t = kNear + k / kRows;
      auto& sum = sums[(kFirst + r) * kSumColumns + t];
      sum = hn::MulAdd(value, w[r][c - t * kStride], sum);
    });
  });
}

/// One tile of a filter of kWidth columns and any number of rows.
template <class Filter, Edge kEdge, class T>
HWY_NOINLINE void sum_rows(const DepthwiseShape& shape, const DepthwiseGroup<T>& group,
                           const DepthwiseTail& tail, const DepthwiseTile& tile) {
  const int64_t top = tile.y * shape.stride_y - shape.pad_top;
  const int64_t left = tile.x * Filter::kStride - shape.pad_left;
  const auto bits = [](int64_t count) {
    return (1u << std::clamp<int64_t>(count, 0, Filter::kColumns)) - 1u;
  };
  const uint32_t present = kEdge != Edge::None ? bits(shape.iw - left) & ~bits(-left) : ~0u;
  const T* const src = group.src + left * group.src_pixel;
  const int64_t step = Filter::kWidth * kChannels;
  DepthwiseVector sums[kSums];
  start_sums(group.bias, sums);
  const float* const weights = group.weights;
  const T* const first_row = src + top * group.src_row;
  const auto row = [&](int64_t i) HET_INLINE_BODY { return first_row + i * group.src_row; };
  if constexpr (Filter::kHeight > 0) {
    constexpr int kHeight = Filter::kHeight;
    unrolled<kHeight + (kSumRows - 1) * Filter::kStride>([&](auto i) HET_INLINE_BODY {
      if (top + i < 0 || top + i >= shape.ih) return;
      constexpr int kSecond = i - Filter::kStride;
      if constexpr (kSumRows == 1 || kSecond < 0) {
        add_row<Filter, 0, 1, kEdge>(row(i), group, present, weights + i * step, nullptr, sums);
      } else if constexpr (i < kHeight) {
        add_row<Filter, 0, 2, kEdge>(row(i), group, present, weights + i * step,
                                     weights + kSecond * step, sums);
      } else {
        add_row<Filter, 1, 1, kEdge>(row(i), group, present, weights + kSecond * step, nullptr,
                                     sums);
      }
    });
    return finish_depthwise<kEdge != Edge::Any>(shape, group, tail, tile, sums);
  }
  // Rows of src, counted from `top`: those of the first row of the result, and
  // of the second.
  const bool has_second = kSumRows > 1 && tile.rows > 1;
  const int64_t second = has_second ? shape.stride_y : shape.kh;
  const int64_t begin = std::max<int64_t>(-top, 0);
  const int64_t end = std::min(shape.kh + (has_second ? second : 0), shape.ih - top);
  int64_t i = begin;
  for (; i < std::min({end, second, shape.kh}); ++i) {
    add_row<Filter, 0, 1, kEdge>(row(i), group, present, weights + i * step, nullptr, sums);
  }
  if constexpr (kSumRows > 1) {
    if (has_second) {
      for (i = std::max(begin, second); i < std::min(end, shape.kh); ++i) {
        add_row<Filter, 0, 2, kEdge>(row(i), group, present, weights + i * step,
                                     weights + (i - second) * step, sums);
      }
      for (i = std::max({begin, second, shape.kh}); i < end; ++i) {
        add_row<Filter, 1, 1, kEdge>(row(i), group, present, weights + (i - second) * step, nullptr,
                                     sums);
      }
    }
  }
  finish_depthwise<kEdge != Edge::Any>(shape, group, tail, tile, sums);
}

/// A row of the source, or one pixel of padding that is all pixels of a missing
/// one.
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

/// A tile for any filter.
template <class T>
HWY_NOINLINE void sum_tile(const DepthwiseShape& shape, const DepthwiseGroup<T>& group,
                           const DepthwiseTail& tail, const DepthwiseTile& tile) {
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
            sum = hn::MulAdd(load_channels(d, from), w, sum);
            from += step;
          }
          continue;
        }
#pragma GCC unroll 8
        for (int t = 0; t < kSumColumns; ++t) {
          const int64_t column = x + t * shape.stride_x;
          auto value = padding;
          if (column >= 0 && column < shape.iw) value = load_channels(d, from);
          auto& sum = sums[r * kSumColumns + t];
          sum = hn::MulAdd(value, w, sum);
          from += step;
        }
      }
    }
  }
  finish_depthwise<false>(shape, group, tail, tile, sums);
}

/// What sums the tiles of a shape: inside the picture, and where columns may be
/// missing.
template <class T>
struct DepthwiseSums {
  using Function = void (*)(const DepthwiseShape&, const DepthwiseGroup<T>&, const DepthwiseTail&,
                            const DepthwiseTile&);
  Function inside = sum_tile<T>;
  Function near_edge = sum_tile<T>;
  Function any = sum_tile<T>;
  int64_t columns = 0;  ///< of src that a tile reads
  int64_t padding = 0;  ///< of them, those that may be missing near an edge
};

template <class Filter, class T>
DepthwiseSums<T> sums_of_filter() {
  using AnyHeight = RowFilter<0, Filter::kWidth, Filter::kStride>;
  return {sum_rows<Filter, Edge::None, T>, sum_rows<Filter, Edge::Near, T>,
          sum_rows<AnyHeight, Edge::Any, T>, Filter::kColumns, Filter::kWidth / 2};
}

template <int kHeight, int kWidth, class T>
DepthwiseSums<T> sums_of_width(const DepthwiseShape& shape) {
  return shape.stride_x == 1 ? sums_of_filter<RowFilter<kHeight, kWidth, 1>, T>()
                             : sums_of_filter<RowFilter<kHeight, kWidth, 2>, T>();
}

#ifdef HET_DEPTHWISE_PAIRS
template <int kWidth>
DepthwiseSums<uint16_t> pair_sums_of_width(const DepthwiseShape& shape) {
  using Dense = RowFilter<0, kWidth, 1>;
  using Strided = RowFilter<0, kWidth, 2>;
  if (shape.stride_x == 1) {
    return {sum_pairs<Dense, Edge::None>, sum_pairs<Dense, Edge::Near>, sum_pairs<Dense, Edge::Any>,
            Dense::kColumns, kWidth / 2};
  }
  return {sum_pairs<Strided, Edge::None>, sum_pairs<Strided, Edge::Near>,
          sum_pairs<Strided, Edge::Any>, Strided::kColumns, kWidth / 2};
}
#endif

template <class T>
DepthwiseSums<T> sums_of(const DepthwiseShape& shape) {
#ifdef HET_DEPTHWISE_PAIRS
  if constexpr (std::is_same_v<T, uint16_t>) {
    if (shape.multiplies_pairs) {
      return shape.kw == 5 ? pair_sums_of_width<5>(shape) : pair_sums_of_width<7>(shape);
    }
  }
#endif
  if constexpr (kHasSquares) {
    if (shape.dilation_y == 1 && shape.dilation_x == 1 && shape.stride_x <= 2) {
      const bool is_square = shape.kh == shape.kw && shape.stride_y == shape.stride_x;
      if (shape.kw == 3 && is_square) return sums_of_width<3, 3, T>(shape);
      if (shape.kw == 3) return sums_of_width<0, 3, T>(shape);
      if (shape.kw == 5) return sums_of_width<0, 5, T>(shape);
      if (shape.kw == 7) return sums_of_width<0, 7, T>(shape);
    }
  }
  return {};
}

int64_t groups_of(const DepthwiseShape& shape) {
  if (shape.block == 0) return (shape.channels + kChannels - 1) / kChannels;
  return (shape.channels + shape.block - 1) / shape.block * (shape.block / kChannels);
}

/// The last group of channels last begins in the one before, or has all
/// channels.
int64_t first_channel(const DepthwiseShape& shape, int64_t group) {
  const int64_t channel = group * kChannels;
  if (shape.block > 0) return channel;
  return std::max<int64_t>(std::min(channel, shape.channels - kChannels), 0);
}

/// Where a channel of a picture begins, and the distances, in elements.
struct DepthwisePlace {
  int64_t first, row, pixel;
};
DepthwisePlace place_of(int64_t block, int64_t channels, int64_t n, int64_t channel, int64_t h,
                        int64_t w) {
  if (block == 0) return {n * h * w * channels + channel, w * channels, channels};
  const int64_t blocks = (channels + block - 1) / block;
  const int64_t plane = n * blocks + channel / block;
  return {plane * h * w * block + channel % block, w * block, block};
}

/// Rows of channels as the sums want them, in float: repeated, or whole vectors
/// of few.
class SpreadRows {
 public:
  /// `values`: floats_of_spread_rows().
  explicit SpreadRows(float* values) : values_(values) {}

  /// For the rows [begin, end) of a group of channels; the place of row 0 and
  /// the distances.
  template <class T>
  DepthwisePlace spread(const DepthwiseShape& shape, const T* src, int64_t n, int64_t group,
                        int64_t begin, int64_t end) {
    const DepthwiseTag d;
    const int64_t row = shape.iw * kChannels;
    const int64_t channels = shape.channels / shape.repeats;
    const int64_t first = first_channel(shape, group);
    // None in a group that only pads a block.
    const int64_t used = std::clamp<int64_t>(shape.channels - first, 0, kChannels);
    const int64_t from_channel = first / shape.repeats;
    // A vector that has all channels, where there is one.
    const int64_t base = shape.block > 0
                             ? from_channel / kChannels * kChannels
                             : std::max<int64_t>(std::min(from_channel, channels - kChannels), 0);
    const DepthwisePlace from = place_of(shape.block, channels, n, base, shape.ih, shape.iw);
    const bool is_whole = shape.block > 0 || channels >= kChannels;
    const bool is_near = (first + used - 1) / shape.repeats < base + kChannels;
    alignas(64) std::array<int32_t, kChannels> lanes{};
    std::array<int64_t, kChannels> offsets{};
    for (int64_t lane = 0; lane < kChannels; ++lane) {
      const int64_t channel = (first + std::min(lane, used - 1)) / shape.repeats;
      lanes[static_cast<size_t>(lane)] =
          static_cast<int32_t>(std::max<int64_t>(channel - base, 0) % kChannels);
      offsets[static_cast<size_t>(lane)] =
          place_of(shape.block, channels, n, channel, shape.ih, shape.iw).first;
    }
    const auto table =
        hn::IndicesFromVec(d, hn::Load(hn::RebindToSigned<DepthwiseTag>(), lanes.data()));
    // Padded channels read zeros: an infinity times their weights were no zero.
    const auto present = hn::FirstN(d, static_cast<size_t>(used));
    const auto keep = [&](DepthwiseVector value, float* to) HET_INLINE_BODY {
      hn::StoreU(hn::IfThenElseZero(present, hn::TableLookupLanes(value, table)), d, to);
    };
    for (int64_t y = begin; y < end; ++y) {
      float* to = values_ + (y - begin) * row;
      const T* at = src + from.first + y * from.row;
      if (is_near && is_whole) {
        for (int64_t x = 0; x < shape.iw; ++x, at += from.pixel, to += kChannels) {
          keep(load_channels(d, at), to);
        }
      } else if (is_near) {
        for (int64_t x = 0; x < shape.iw; ++x, at += from.pixel, to += kChannels) {
          keep(load_first_channels(d, at, channels), to);
        }
      } else {
        at = src + y * from.row;
        for (int64_t x = 0; x < shape.iw; ++x, at += from.pixel, to += kChannels) {
          for (int64_t lane = 0; lane < used; ++lane) {
            if constexpr (std::is_same_v<T, float>) {
              to[lane] = at[offsets[static_cast<size_t>(lane)]];
            } else {
              const uint32_t bits = static_cast<uint32_t>(at[offsets[static_cast<size_t>(lane)]])
                                    << 16;
              __builtin_memcpy(to + lane, &bits, sizeof(bits));
            }
          }
          std::fill(to + used, to + kChannels, 0.0f);
        }
      }
    }
    return {-begin * row, row, kChannels};
  }
  const float* values() const { return values_; }

 private:
  float* values_;
};

/// Rows of the result in a unit. Rows of src that are spread serve many of
/// them.
int64_t unit_rows(const DepthwiseShape& shape) {
  return shape.repeats > 1 ? 8 : kSumRows;
}

int64_t row_parts(const DepthwiseShape& shape) {
  return (shape.oh + unit_rows(shape) - 1) / unit_rows(shape);
}

/// Groups of channels that are units of their own. Those of channels last may
/// overlap, so one thread takes all of some rows.
int64_t unit_groups(const DepthwiseShape& shape) {
  return shape.block == 0 ? 1 : groups_of(shape);
}

/// Packed weights of a group of channels, in floats.
int64_t weights_of_group(const DepthwiseShape& shape) {
  return (shape.multiplies_pairs ? 2 * shape.pairs() * shape.kw : shape.taps()) * kChannels;
}

struct DepthwiseOperands {
  const float* weights;
  const float* bias;
  const std::vector<DepthwiseOp>* ops;
  std::byte* dst;
};

template <class T>
DepthwiseGroup<T> group_of(const DepthwiseShape& shape, const DepthwiseOperands& operands,
                           const T* padding, const T* src, const DepthwisePlace& from, int64_t n,
                           int64_t g) {
  const int64_t channel = first_channel(shape, g);
  const DepthwisePlace to = place_of(shape.block, shape.channels, n, channel, shape.oh, shape.ow);
  const int64_t width = shape.dst == ElementType::BFloat16 ? 2 : 4;
  return {padding,
          src + from.first,
          from.row,
          from.pixel,
          operands.weights + g * weights_of_group(shape),
          operands.bias + g * kChannels,
          operands.ops,
          g * kChannels,
          operands.dst + to.first * width,
          to.row,
          to.pixel,
          shape.block > 0 ? kChannels : std::min(kChannels, shape.channels)};
}

/// The rows of the result from y to end, in some groups of channels: with the
/// channels last, one pixel after the other is read in full.
template <class T>
void sum_groups(const DepthwiseShape& shape, const DepthwiseSums<T>& sums,
                const DepthwiseTail& tail, const std::vector<DepthwiseGroup<T>>& groups, int64_t y,
                int64_t end) {
  for (; y < end; y += kSumRows) {
    DepthwiseTile tile{y, 0, std::min<int64_t>(kSumRows, end - y),
                       std::min<int64_t>(kSumColumns, shape.ow)};
    for (int64_t next = 0; next < shape.ow; next += kSumColumns) {
      // The last tile may begin in the one before.
      tile.x = std::max<int64_t>(std::min(next, shape.ow - kSumColumns), 0);
      const int64_t left = tile.x * shape.stride_x - shape.pad_left;
      const int64_t missing = std::max(-left, left + sums.columns - shape.iw);
      const auto sum = missing <= 0                                             ? sums.inside
                       : missing <= sums.padding && tile.columns == kSumColumns ? sums.near_edge
                                                                                : sums.any;
      for (const DepthwiseGroup<T>& group : groups) sum(shape, group, tail, tile);
    }
  }
}

bool has_few_channels(const DepthwiseShape& shape) {
  return shape.block == 0 && shape.channels < kChannels;
}

/// Of the rows that a unit of the result reads, where they may have to be spread.
int64_t floats_of_spread_rows(const DepthwiseShape& shape) {
  if (shape.repeats == 1 && !has_few_channels(shape)) return 0;
  const int64_t rows =
      (unit_rows(shape) - 1) * shape.stride_y + (shape.kh - 1) * shape.dilation_y + 1;
  return std::min(rows, shape.ih) * shape.iw * kChannels;
}

/// The row of src behind those that are read for rows of the result from y to end. A tile reads
/// those of its second row also where the result has none.
int64_t end_of_rows(const DepthwiseShape& shape, int64_t y, int64_t end) {
  const int64_t last = y + (end - y + kSumRows - 1) / kSumRows * kSumRows - 1;
  return last * shape.stride_y - shape.pad_top + (shape.kh - 1) * shape.dilation_y + 1;
}

/// True where vectors cannot be read from src itself. Those of few channels,
/// which have values of the next pixels behind them, may reach over its end.
bool needs_spread(const DepthwiseShape& shape, int64_t end_row) {
  const int64_t behind = (shape.ih - std::min(end_row, shape.ih)) * shape.iw * shape.channels;
  return shape.repeats > 1 || (has_few_channels(shape) && behind < kChannels - shape.channels);
}

/// What the units of a call share.
template <class T>
class UnitRunner {
 public:
  UnitRunner(const DepthwiseShape& shape, const T* src, const DepthwiseOperands& operands,
             float* scratch)
      : shape_(shape),
        src_(src),
        operands_(operands),
        tail_(*operands.ops, shape.dst),
        sums_(sums_of<T>(shape)),
        spread_sums_(sums_of<float>(shape)),
        spread_(scratch) {}

  /// Units follow row by row, the groups of a row side by side: so threads get the rows that they
  /// most likely wrote in the step before. A thread goes through its rows group by group.
  void run(int64_t begin, int64_t end) {
    const int64_t groups = unit_groups(shape_);
    const int64_t parts = row_parts(shape_);
    while (begin < end) {
      const int64_t group = begin % groups;
      const int64_t part = begin / groups % parts;
      const bool is_whole = group == 0 && end - begin >= groups;
      const int64_t rows = is_whole ? std::min((end - begin) / groups, parts - part) : 1;
      const int64_t count = std::min(groups - group, end - begin);
      for (int64_t g = group; g < group + count; ++g) {
        run_group(begin / groups / parts, g, part, part + rows);
      }
      begin += rows * count;
    }
  }

 private:
  /// Some parts of the rows of a picture. With the channels last all groups together.
  void run_group(int64_t n, int64_t first, int64_t part, int64_t end) {
    const int64_t count = shape_.block > 0 ? 1 : groups_of(shape_);
    const int64_t channels = shape_.channels / shape_.repeats;
    run_.clear();
    for (int64_t g = first; g < first + count; ++g) {
      const DepthwisePlace from =
          place_of(shape_.block, channels, n, first_channel(shape_, g), shape_.ih, shape_.iw);
      run_.push_back(group_of(shape_, operands_, padding_, src_, from, n, g));
    }
    for (; part < end; ++part) {
      const int64_t y = part * unit_rows(shape_);
      const int64_t y_end = std::min(y + unit_rows(shape_), shape_.oh);
      const int64_t bottom = end_of_rows(shape_, y, y_end);
      if (!needs_spread(shape_, bottom)) {
        sum_groups(shape_, sums_, tail_, run_, y, y_end);
        continue;
      }
      const int64_t top = y * shape_.stride_y - shape_.pad_top;
      for (int64_t g = first; g < first + count; ++g) {
        const DepthwisePlace from =
            spread_.spread(shape_, src_, n, g, std::clamp<int64_t>(top, 0, shape_.ih),
                           std::clamp<int64_t>(bottom, 0, shape_.ih));
        spread_run_.assign(
            1, group_of(shape_, operands_, spread_padding_, spread_.values(), from, n, g));
        sum_groups(shape_, spread_sums_, tail_, spread_run_, y, y_end);
      }
    }
  }

  const DepthwiseShape& shape_;
  const T* src_;
  const DepthwiseOperands& operands_;
  DepthwiseTail tail_;
  DepthwiseSums<T> sums_;
  DepthwiseSums<float> spread_sums_;
  SpreadRows spread_;
  const T padding_[kChannels] = {};
  const float spread_padding_[kChannels] = {};
  std::vector<DepthwiseGroup<T>> run_;
  std::vector<DepthwiseGroup<float>> spread_run_;
};

void run_all(const DepthwiseShape& shape, const std::byte* src, const float* weights,
             const float* bias, const std::vector<DepthwiseOp>& ops, int64_t begin, int64_t end,
             float* scratch, std::byte* dst) {
  const DepthwiseOperands operands{weights, bias, &ops, dst};
  if (shape.src == ElementType::BFloat16) {
    UnitRunner(shape, reinterpret_cast<const uint16_t*>(src), operands, scratch).run(begin, end);
  } else {
    UnitRunner(shape, reinterpret_cast<const float*>(src), operands, scratch).run(begin, end);
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

bool can_multiply_pairs() {
#ifdef HET_DEPTHWISE_PAIRS
  return has_bfloat16_instructions();
#else
  return false;
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(run_all);
HWY_EXPORT(units_of);
HWY_EXPORT(floats_of_spread_rows);
HWY_EXPORT(channels_of_group);
HWY_EXPORT(packed_by_group);
HWY_EXPORT(can_multiply_pairs);

int64_t depthwise_lanes() {
  return HWY_DYNAMIC_DISPATCH(channels_of_group)();
}

std::vector<float> pack_depthwise(const DepthwiseShape& shape, const float* values, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(packed_by_group)(shape, values, count);
}

bool has_depthwise_pairs(const DepthwiseShape& shape) {
  // Smaller filters wait for the cache.
  return shape.src == ElementType::BFloat16 && shape.block == 0 && shape.repeats == 1 &&
         shape.channels >= depthwise_lanes() && (shape.kw == 5 || shape.kw == 7) &&
         shape.dilation_y == 1 && shape.dilation_x == 1 && shape.stride_y == shape.stride_x &&
         shape.stride_x <= 2 && HWY_DYNAMIC_DISPATCH(can_multiply_pairs)();
}

std::vector<float> pack_depthwise_pairs(const DepthwiseShape& shape, const float* values) {
  const int64_t lanes = depthwise_lanes();
  const int64_t taps = shape.taps();
  const int64_t pairs = shape.pairs();
  const std::vector<float> packed = pack_depthwise(shape, values, taps);
  const int64_t groups = static_cast<int64_t>(packed.size()) / (taps * lanes);
  std::vector<float> result;
  result.reserve(static_cast<size_t>(groups * 2 * pairs * shape.kw * lanes));
  const auto bits = [&](int64_t group, int64_t y, int64_t x, int64_t lane) -> uint32_t {
    if (y < 0 || y >= shape.kh) return 0;
    const int64_t at = ((group * shape.kh + y) * shape.kw + x) * lanes + lane;
    return float_to_bfloat16(packed[static_cast<size_t>(at)]);
  };
  for (int64_t group = 0; group < groups; ++group) {
    for (int64_t first : {int64_t{0}, int64_t{-1}}) {
      for (int64_t pair = 0; pair < pairs; ++pair) {
        for (int64_t x = 0; x < shape.kw; ++x) {
          for (int64_t lane = 0; lane < lanes; ++lane) {
            const int64_t y = first + 2 * pair;
            result.push_back(
                std::bit_cast<float>(bits(group, y, x, lane) | bits(group, y + 1, x, lane) << 16));
          }
        }
      }
    }
  }
  return result;
}

int64_t depthwise_units(const DepthwiseShape& shape) {
  return HWY_DYNAMIC_DISPATCH(units_of)(shape);
}

int64_t depthwise_scratch_floats(const DepthwiseShape& shape) {
  return HWY_DYNAMIC_DISPATCH(floats_of_spread_rows)(shape);
}

void run_depthwise(const DepthwiseShape& shape, const std::byte* src, const float* weights,
                   const float* bias, const std::vector<DepthwiseOp>& ops, int64_t begin,
                   int64_t end, float* scratch, std::byte* dst) {
  HWY_DYNAMIC_DISPATCH(run_all)
  (shape, src, weights, bias, ops, begin, end, scratch, dst);
}

}  // namespace het::cpu
#endif
