#include "devices/cpu/loops/dense_loops.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "devices/cpu/formats/cache_size.h"
#include "devices/cpu/loops/half_loops.h"

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/dense_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/activation-inl.h"

// Highway 1.0 has no arithmetic in bfloat16 for x86.
#undef HET_HAS_DENSE_BFLOAT16
#undef HET_DENSE_BFLOAT16
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
#include <immintrin.h>
#define HET_HAS_DENSE_BFLOAT16 1
#define HET_DENSE_BFLOAT16 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))
#else
#define HET_HAS_DENSE_BFLOAT16 0
#define HET_DENSE_BFLOAT16
#endif

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Vectors of up to 16 floats; a panel has two of them.
using DenseTag = hn::CappedTag<float, 16>;
constexpr int kDenseLanes = static_cast<int>(hn::MaxLanes(DenseTag()));
constexpr int kDensePanel = 2 * kDenseLanes;
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int kDenseRows = 14;
#elif HWY_TARGET == HWY_AVX2
constexpr int kDenseRows = 6;
#else
constexpr int kDenseRows = 4;
#endif

int64_t dense_panel_columns() {
  return kDensePanel;
}

int64_t dense_block_rows() {
  return kDenseRows;
}

/// One register tile, and where its sums go: rows of a panel's width.
struct DenseTile {
  const std::byte* src;
  int64_t src_row, src_block;  // values
  int64_t k, block;
  const std::byte* weights;
  const float* bias;
  const char* next;  ///< fetched meanwhile, line by line
  int64_t next_step;
  float* sums;
};

template <int kUsed, int kColumns, int kBlock>
HWY_INLINE void multiply_dense_block(const DenseTile& tile, const float* src, const float* weights,
                                     int64_t count, const char*& next,
                                     hn::Vec<DenseTag> (&sums)[kUsed][kColumns]) {
  const DenseTag d;
  using V = hn::Vec<DenseTag>;
  const int64_t row = tile.src_row;
  for (int64_t c = 0; c < (kBlock > 0 ? kBlock : count); ++c) {
    V w[kColumns];
#pragma GCC unroll 2
    for (int k = 0; k < kColumns; ++k) w[k] = hn::Load(d, weights + k * kDenseLanes);
    weights += kDensePanel;
    __builtin_prefetch(next, 0, 2);
    __builtin_prefetch(next + 64, 0, 2);
    next += tile.next_step;
#pragma GCC unroll 14
    for (int r = 0; r < kUsed; ++r) {
      const V x = hn::Set(d, src[r * row + c]);
#pragma GCC unroll 2
      for (int k = 0; k < kColumns; ++k) sums[r][k] = hn::MulAdd(x, w[k], sums[r][k]);
    }
  }
}

template <int kUsed, int kColumns>
void multiply_dense_tile(const DenseTile& tile) {
  const DenseTag d;
  hn::Vec<DenseTag> sums[kUsed][kColumns];
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
#pragma GCC unroll 2
    for (int k = 0; k < kColumns; ++k) sums[r][k] = hn::LoadU(d, tile.bias + k * kDenseLanes);
  }
  const auto* src = reinterpret_cast<const float*>(tile.src);
  const auto* weights = reinterpret_cast<const float*>(tile.weights);
  const char* next = tile.next;
  int64_t left = tile.k;
  for (; left >= tile.block; left -= tile.block) {
    if (tile.block == 16) {
      multiply_dense_block<kUsed, kColumns, 16>(tile, src, weights, 16, next, sums);
    } else {
      multiply_dense_block<kUsed, kColumns, 0>(tile, src, weights, tile.block, next, sums);
    }
    src += tile.src_block;
    weights += tile.block * kDensePanel;
  }
  multiply_dense_block<kUsed, kColumns, 0>(tile, src, weights, left, next, sums);
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
#pragma GCC unroll 2
    for (int k = 0; k < kColumns; ++k) {
      hn::Store(sums[r][k], d, tile.sums + r * kDensePanel + k * kDenseLanes);
    }
  }
}

#if HET_HAS_DENSE_BFLOAT16
/// Pairs of values; the source is row-major.
template <int kUsed, int kColumns>
HET_DENSE_BFLOAT16 void multiply_dense_pairs(const DenseTile& tile) {
  __m512 sums[kUsed][kColumns];
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
#pragma GCC unroll 2
    for (int k = 0; k < kColumns; ++k) sums[r][k] = _mm512_loadu_ps(tile.bias + 16 * k);
  }
  const auto* src = reinterpret_cast<const char*>(tile.src);
  const auto* weights = reinterpret_cast<const char*>(tile.weights);
  const char* next = tile.next;
  const int64_t row = 2 * tile.src_row;
  for (int64_t pair = 0; pair < tile.k / 2; ++pair) {
    __m512bh w[kColumns];
#pragma GCC unroll 2
    for (int k = 0; k < kColumns; ++k) w[k] = (__m512bh)_mm512_load_si512(weights + 64 * k);
    weights += 128;
    __builtin_prefetch(next, 0, 2);
    __builtin_prefetch(next + 64, 0, 2);
    next += tile.next_step;
#pragma GCC unroll 14
    for (int r = 0; r < kUsed; ++r) {
      int32_t bits;
      __builtin_memcpy(&bits, src + r * row, sizeof(bits));
      const auto x = (__m512bh)_mm512_set1_epi32(bits);
#pragma GCC unroll 2
      for (int k = 0; k < kColumns; ++k) sums[r][k] = _mm512_dpbf16_ps(sums[r][k], x, w[k]);
    }
    src += sizeof(int32_t);
  }
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
#pragma GCC unroll 2
    for (int k = 0; k < kColumns; ++k) {
      _mm512_store_ps(tile.sums + r * kDensePanel + 16 * k, sums[r][k]);
    }
  }
}
#endif

/// Calls a tile's function for a number of rows up to kMost.
template <int kMost, int kColumns>
HWY_INLINE void multiply_dense_rows(int64_t rows, bool is_bfloat16, const DenseTile& tile) {
  if constexpr (kMost > 1) {
    if (rows < kMost) return multiply_dense_rows<kMost - 1, kColumns>(rows, is_bfloat16, tile);
  }
#if HET_HAS_DENSE_BFLOAT16
  if (is_bfloat16) return multiply_dense_pairs<kMost, kColumns>(tile);
#endif
  multiply_dense_tile<kMost, kColumns>(tile);
}

using DenseHalf = hn::Rebind<uint16_t, DenseTag>;

HWY_INLINE hn::Vec<DenseTag> load_dense(const float* from) {
  return hn::LoadU(DenseTag(), from);
}

HWY_INLINE hn::Vec<DenseTag> load_dense(const BFloat16* from) {
  const hn::RebindToUnsigned<DenseTag> bits;
  const auto narrow = hn::LoadU(DenseHalf(), reinterpret_cast<const uint16_t*>(from));
  return hn::BitCast(DenseTag(), hn::ShiftLeft<16>(hn::PromoteTo(bits, narrow)));
}

/// kNative: the processor has an instruction that rounds to bfloat16.
template <bool kNative>
HWY_INLINE void store_dense(hn::Vec<DenseTag> value, float* to) {
  hn::StoreU(value, DenseTag(), to);
}

template <bool kNative>
HET_DENSE_BFLOAT16 HWY_INLINE void store_dense(hn::Vec<DenseTag> value, BFloat16* to) {
#if HET_HAS_DENSE_BFLOAT16
  if constexpr (kNative) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), (__m256i)_mm512_cvtneps_pbh(value.raw));
    return;
  }
#endif
  [[maybe_unused]] const DenseTag d;
  const hn::RebindToUnsigned<DenseTag> bits;
  const hn::RebindToSigned<DenseTag> whole;
  const auto exact = hn::BitCast(bits, value);
  const auto even = hn::And(hn::ShiftRight<16>(exact), hn::Set(bits, 1));
  const auto rounded = hn::Add(hn::Add(exact, hn::Set(bits, 0x7FFF)), even);
  // The bits of a NaN could round to those of an infinity.
  const auto quiet = hn::Or(exact, hn::Set(bits, 0x400000));
  const auto chosen = hn::IfThenElse(hn::RebindMask(bits, hn::IsNaN(value)), quiet, rounded);
  hn::StoreU(hn::DemoteTo(DenseHalf(), hn::BitCast(whole, hn::ShiftRight<16>(chosen))), DenseHalf(),
             reinterpret_cast<uint16_t*>(to));
}

/// Where the rows of a tile lie in dst.
struct DenseRows {
  int64_t rows;
  int64_t offset;     ///< of the first value
  int64_t row_step;   ///< from row to row
  int64_t part_step;  ///< from one vector to the next
  int64_t columns;
  int64_t end;    ///< behind the last column, relative to a row
  int64_t zeros;  ///< that stand there
};

/// What is added before an activation, the activation, what is added behind it.
template <bool kNative, bool kBefore, bool kBehind, class T, class F>
HET_DENSE_BFLOAT16 HWY_INLINE void finish_vector(const float* sums, const T* sum, T* dst,
                                                 const F& activate) {
  const DenseTag d;
  auto value = hn::Load(d, sums);
  if constexpr (kBefore) value = hn::Add(value, load_dense(sum));
  value = activate(d, value);
  if constexpr (kBehind) value = hn::Add(value, load_dense(sum));
  store_dense<kNative>(value, dst);
}

/// The same for fewer values than a vector has.
template <bool kNative, bool kBefore, bool kBehind, class T, class F>
HET_DENSE_BFLOAT16 HWY_INLINE void finish_values(int64_t count, const float* sums, const T* sum,
                                                 T* dst, const F& activate) {
  T added[kDenseLanes] = {};
  T values[kDenseLanes];
  if constexpr (kBefore || kBehind) std::copy_n(sum, count, added);
  finish_vector<kNative, kBefore, kBehind>(sums, added, values, activate);
  std::copy_n(values, count, dst);
}

/// Sums of a tile into dst.
template <bool kNative, bool kBefore, bool kBehind, class T, class F>
HET_DENSE_BFLOAT16 HWY_INLINE void finish_rows(DenseRows where, const float* sums, const T* sum,
                                               T* dst, const F& activate) {
  dst += where.offset;
  if (kBefore || kBehind) sum += where.offset;
  if (where.columns == kDensePanel) {
    for (int64_t r = 0; r < where.rows; ++r) {
      finish_vector<kNative, kBefore, kBehind>(sums, sum, dst, activate);
      finish_vector<kNative, kBefore, kBehind>(sums + kDenseLanes, sum + where.part_step,
                                               dst + where.part_step, activate);
      sums += kDensePanel;
      dst += where.row_step;
      if (kBefore || kBehind) sum += where.row_step;
    }
    return;
  }
  const int64_t whole = where.columns / kDenseLanes * where.part_step;
  const int64_t rest = where.columns % kDenseLanes;
  const float* last = sums + where.columns / kDenseLanes * kDenseLanes;
  for (int64_t r = 0; r < where.rows; ++r) {
    if (whole != 0) finish_vector<kNative, kBefore, kBehind>(sums, sum, dst, activate);
    if (rest != 0) {
      finish_values<kNative, kBefore, kBehind>(rest, last, sum + whole, dst + whole, activate);
    }
    std::fill_n(dst + where.end, where.zeros, T(0.0f));
    sums += kDensePanel;
    last += kDensePanel;
    dst += where.row_step;
    if (kBefore || kBehind) sum += where.row_step;
  }
}

template <bool kNative, class T>
HET_DENSE_BFLOAT16 void finish_tile(const DenseTail& tail, const DenseRows& where, float* sums,
                                    const T* sum, T* dst) {
  using D = DenseTag;
  using V = hn::Vec<DenseTag>;
  constexpr Accuracy kAccuracy = std::is_same_v<T, float> ? Accuracy::Float32 : Accuracy::BFloat16;
  const auto finish = [&](const auto& activate) HET_DENSE_BFLOAT16 {
    if (tail.adds_before) return finish_rows<kNative, true, false>(where, sums, sum, dst, activate);
    if (tail.adds_behind) return finish_rows<kNative, false, true>(where, sums, sum, dst, activate);
    finish_rows<kNative, false, false>(where, sums, sum, dst, activate);
  };
  if (!tail.activation) return finish([](D, V x) { return x; });
  const float alpha = tail.activation->alpha;
  const float beta = tail.activation->beta;
  switch (tail.activation->kind) {
    case ElementwiseKind::Relu:
      if (alpha == 0.0f) return finish([](D d, V x) { return at_least(x, hn::Zero(d)); });
      return finish([alpha](D d, V x) {
        return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(x, hn::Set(d, alpha)), x);
      });
    case ElementwiseKind::Clip:
      return finish(
          [alpha, beta](D d, V x) { return clamped(x, hn::Set(d, alpha), hn::Set(d, beta)); });
    case ElementwiseKind::HardSwish:
      return finish([](D d, V x) {
        const V y = hn::MulAdd(x, hn::Set(d, 1.0f / 6.0f), hn::Set(d, 0.5f));
        return hn::Mul(x, clamped(y, hn::Zero(d), hn::Set(d, 1.0f)));
      });
    case ElementwiseKind::Sigmoid:
      return finish([](D d, V x) { return fast_sigmoid<kAccuracy>(d, x); });
    case ElementwiseKind::Swish:
      return finish([alpha](D d, V x) { return fast_swish<kAccuracy>(d, x, alpha); });
    case ElementwiseKind::Tanh:
      return finish([](D d, V x) { return fast_tanh<kAccuracy>(d, x); });
    case ElementwiseKind::GeluErf:
      return finish([](D d, V x) { return fast_gelu_erf<kAccuracy>(d, x); });
    case ElementwiseKind::GeluTanh:
      return finish([](D d, V x) { return fast_gelu_tanh<kAccuracy>(d, x); });
    default:  // dense_tail() gives no others
      break;
  }
}

/// Rows are spread evenly over the blocks: short ones would waste loads of weights.
struct DenseBlocks {
  explicit DenseBlocks(const DenseShape& shape)
      : rows(shape.rows), count((shape.rows + kDenseRows - 1) / kDenseRows) {}
  int64_t first(int64_t block) const { return rows * block / count; }
  int64_t rows, count;
};

template <bool kNative, class T>
void multiply_part(const DenseShape& shape, const DenseTail& tail, const DenseOperands& operands,
                   const DensePart& part) {
  constexpr int64_t kCacheLine = 64;
  alignas(64) std::array<float, kDenseRows * kDensePanel> sums;
  const DenseBlocks blocks(shape);
  const bool is_bfloat16 = shape.src == ElementType::BFloat16;
  const int64_t width = is_bfloat16 ? 2 : 4;
  const int64_t panel_bytes = shape.k * kDensePanel * width;
  const int64_t steps = is_bfloat16 ? shape.k / 2 : shape.k;
  // Rows of src and dst that stay in the second-level cache while all panels pass by.
  const int64_t block_bytes =
      kDenseRows * (shape.k * width + shape.n * static_cast<int64_t>(sizeof(T)));
  const int64_t together = std::max<int64_t>(second_level_bytes() / 2 / block_bytes, 1);
  for (int64_t begin = part.row_blocks_begin; begin < part.row_blocks_end; begin += together) {
    const int64_t end = std::min(begin + together, part.row_blocks_end);
    const int64_t share = panel_bytes / (end - begin) / kCacheLine * kCacheLine;
    const int64_t next_step = std::max<int64_t>(share / std::max<int64_t>(steps, 1), 1);
    for (int64_t panel = part.panels_begin; panel < part.panels_end; ++panel) {
      const int64_t column = panel * kDensePanel;
      const int64_t columns = std::min<int64_t>(kDensePanel, shape.n - column);
      const std::byte* const weights = operands.weights + panel * panel_bytes;
      // Nothing is fetched behind the last panel: the same lines again cost nothing.
      const auto* next = reinterpret_cast<const char*>(
          panel + 1 < part.panels_end ? weights + panel_bytes : weights);
      DenseRows where{};
      where.row_step = shape.dst_row;
      where.part_step = shape.block == kDenseLanes ? shape.dst_block : kDenseLanes;
      where.columns = columns;
      const int64_t behind = column % shape.block + columns;
      where.end =
          behind / shape.block * shape.dst_block + behind % shape.block - column % shape.block;
      if (shape.fills_blocks && behind % shape.block != 0 && column + columns == shape.n) {
        where.zeros = shape.block - behind % shape.block;
      }
      for (int64_t block = begin; block < end; ++block) {
        const int64_t row = blocks.first(block);
        where.rows = blocks.first(block + 1) - row;
        where.offset =
            row * shape.dst_row + column / shape.block * shape.dst_block + column % shape.block;
        const DenseTile tile{operands.src + row * shape.src_row * width,
                             shape.src_row,
                             shape.src_block,
                             shape.k,
                             shape.block,
                             weights,
                             operands.bias + column,
                             next + (block - begin) * share,
                             next_step,
                             sums.data()};
        if (columns > kDenseLanes) {
          multiply_dense_rows<kDenseRows, 2>(where.rows, is_bfloat16, tile);
        } else {
          multiply_dense_rows<kDenseRows, 1>(where.rows, is_bfloat16, tile);
        }
        finish_tile<kNative, T>(tail, where, sums.data(), reinterpret_cast<const T*>(operands.sum),
                                reinterpret_cast<T*>(operands.dst));
      }
    }
  }
}

void multiply_any(const DenseShape& shape, const DenseTail& tail, const DenseOperands& operands,
                  const DensePart& part) {
  if (shape.dst == ElementType::Float32) {
    multiply_part<false, float>(shape, tail, operands, part);
  } else if (HET_HAS_DENSE_BFLOAT16 && has_dense_bfloat16()) {
    multiply_part<true, BFloat16>(shape, tail, operands, part);
  } else {
    multiply_part<false, BFloat16>(shape, tail, operands, part);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(dense_panel_columns);
HWY_EXPORT(dense_block_rows);
HWY_EXPORT(multiply_any);

bool has_dense_bfloat16() {
#if HWY_ARCH_X86
  static const bool has = __builtin_cpu_supports("avx512bf16") != 0 && dense_panel() == 32;
  return has;
#else
  return false;
#endif
}

int64_t dense_panel() {
  static const int64_t columns = HWY_DYNAMIC_DISPATCH(dense_panel_columns)();
  return columns;
}

int64_t dense_rows() {
  static const int64_t rows = HWY_DYNAMIC_DISPATCH(dense_block_rows)();
  return rows;
}

size_t dense_weights_bytes(const DenseShape& shape) {
  const size_t width = shape.src == ElementType::BFloat16 ? 2 : 4;
  return static_cast<size_t>(dense_panels(shape) * dense_panel() * shape.k) * width;
}

void pack_dense_panels(const DenseShape& shape, const float* weights, int64_t row_stride,
                       int64_t column_stride, int64_t begin, int64_t end, std::byte* packed) {
  const int64_t width = dense_panel();
  const bool is_bfloat16 = shape.src == ElementType::BFloat16;
  std::vector<float> rows(static_cast<size_t>(2 * width));
  for (int64_t panel = begin; panel < end; ++panel) {
    const int64_t first = panel * width;
    const int64_t columns = std::min(width, shape.n - first);
    for (int64_t i = 0; i < shape.k; i += is_bfloat16 ? 2 : 1) {
      const float* const from = weights + i * row_stride + first * column_stride;
      const int64_t at = (panel * shape.k + i) * width;
      if (!is_bfloat16) {
        auto* const to = reinterpret_cast<float*>(packed) + at;
        for (int64_t c = 0; c < columns; ++c) to[c] = from[c * column_stride];
        std::fill(to + columns, to + width, 0.0f);
        continue;
      }
      std::ranges::fill(rows, 0.0f);
      for (int64_t c = 0; c < columns; ++c) {
        rows[static_cast<size_t>(2 * c)] = from[c * column_stride];
        rows[static_cast<size_t>(2 * c + 1)] = from[row_stride + c * column_stride];
      }
      float_to_bfloat16_row(rows.data(), rows.size(), reinterpret_cast<BFloat16*>(packed) + at);
    }
  }
}

std::optional<DenseTail> dense_tail(const FusedTail& tail) {
  DenseTail found;
  for (const TailStep& step : tail) {
    if (step.sum) {
      if (found.adds_before || found.adds_behind) return std::nullopt;
      (found.activation ? found.adds_behind : found.adds_before) = true;
      continue;
    }
    switch (step.expression.kind) {
      case ElementwiseKind::Relu:
      case ElementwiseKind::Clip:
      case ElementwiseKind::HardSwish:
      case ElementwiseKind::Sigmoid:
      case ElementwiseKind::Swish:
      case ElementwiseKind::Tanh:
      case ElementwiseKind::GeluErf:
      case ElementwiseKind::GeluTanh:
        break;
      default:
        return std::nullopt;
    }
    if (found.activation || found.adds_behind) return std::nullopt;
    found.activation = step.expression;
  }
  return found;
}

void multiply_dense(const DenseShape& shape, const DenseTail& tail, const DenseOperands& operands,
                    const DensePart& part) {
  HWY_DYNAMIC_DISPATCH(multiply_any)(shape, tail, operands, part);
}

}  // namespace het::cpu
#endif
