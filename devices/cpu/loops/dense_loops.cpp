#include "devices/cpu/loops/dense_loops.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "devices/cpu/formats/cache_size.h"
#include "devices/cpu/loops/half_loops.h"

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/dense_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/activation-inl.h"
#include "devices/cpu/loops/bfloat16-inl.h"

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

namespace hn = hwy::HWY_NAMESPACE;

using DenseTag = hn::CappedTag<float, 16>;
using V = hn::Vec<DenseTag>;
constexpr int kDenseLanes = 16;

/// One register tile, and where its sums go: rows of a panel's width.
struct DenseTile {
  const BFloat16* src;
  int64_t k;
  const BFloat16* weights;
  const float* bias;
  const char* next;  ///< fetched meanwhile, line by line
  int64_t next_step;
  float* sums;
};

/// kUsed rows times kColumns vectors of columns.
template <int kUsed, int kColumns>
HET_BFLOAT16_TARGET void multiply_dense_tile(const DenseTile& tile) {
  __m512 sums[kUsed][kColumns];
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
#pragma GCC unroll 2
    for (int c = 0; c < kColumns; ++c) sums[r][c] = _mm512_loadu_ps(tile.bias + kDenseLanes * c);
  }
  const auto* src = reinterpret_cast<const char*>(tile.src);
  const auto* weights = reinterpret_cast<const char*>(tile.weights);
  const char* next = tile.next;
  const int64_t row = 2 * tile.k;
  for (int64_t pair = 0; pair < tile.k / 2; ++pair) {
    __m512bh w[kColumns];
#pragma GCC unroll 2
    for (int c = 0; c < kColumns; ++c) w[c] = (__m512bh)_mm512_load_si512(weights + 64 * c);
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
      for (int c = 0; c < kColumns; ++c) sums[r][c] = _mm512_dpbf16_ps(sums[r][c], x, w[c]);
    }
    src += sizeof(int32_t);
  }
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
#pragma GCC unroll 2
    for (int c = 0; c < kColumns; ++c) {
      _mm512_store_ps(tile.sums + r * kDensePanel + kDenseLanes * c, sums[r][c]);
    }
  }
}

/// Calls a tile's function for a number of rows up to kMost.
template <int kMost, int kColumns>
void multiply_dense_rows(int64_t rows, const DenseTile& tile) {
  if constexpr (kMost > 1) {
    if (rows < kMost) return multiply_dense_rows<kMost - 1, kColumns>(rows, tile);
  }
  multiply_dense_tile<kMost, kColumns>(tile);
}

HWY_INLINE V load_dense(const float* from) {
  return hn::LoadU(DenseTag(), from);
}

HWY_INLINE V load_dense(const BFloat16* from) {
  return load_bfloat16(DenseTag(), reinterpret_cast<const uint16_t*>(from));
}

HET_BFLOAT16_TARGET HWY_INLINE void store_dense(V value, float* to) {
  hn::StoreU(value, DenseTag(), to);
}

HET_BFLOAT16_TARGET HWY_INLINE void store_dense(V value, BFloat16* to) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), (__m256i)_mm512_cvtneps_pbh(value.raw));
}

/// What is added before an activation, the activation, what is added behind it.
template <bool kBefore, bool kBehind, class T, class F>
HET_BFLOAT16_TARGET HWY_INLINE void finish_vector(const float* sums, const T* sum, T* dst,
                                                  const F& activate) {
  const DenseTag d;
  V value = hn::Load(d, sums);
  if constexpr (kBefore) value = hn::Add(value, load_dense(sum));
  value = activate(d, value);
  if constexpr (kBehind) value = hn::Add(value, load_dense(sum));
  store_dense(value, dst);
}

/// The same for fewer values than a vector has.
template <bool kBefore, bool kBehind, class T, class F>
HET_BFLOAT16_TARGET HWY_INLINE void finish_values(int64_t count, const float* sums, const T* sum,
                                                  T* dst, const F& activate) {
  T added[kDenseLanes] = {};
  T values[kDenseLanes];
  if constexpr (kBefore || kBehind) std::copy_n(sum, count, added);
  finish_vector<kBefore, kBehind>(sums, added, values, activate);
  std::copy_n(values, count, dst);
}

/// Rows of sums into dst, whose rows are `row` values apart.
template <bool kBefore, bool kBehind, class T, class F>
HET_BFLOAT16_TARGET HWY_INLINE void finish_rows(int64_t rows, int64_t columns, int64_t row,
                                                const float* sums, const T* sum, T* dst,
                                                const F& activate) {
  const int64_t whole = columns / kDenseLanes * kDenseLanes;
  const auto sum_at = [&](int64_t i) { return kBefore || kBehind ? sum + i : nullptr; };
  for (int64_t r = 0; r < rows; ++r, sums += kDensePanel, dst += row) {
    if (whole > 0) finish_vector<kBefore, kBehind>(sums, sum, dst, activate);
    if (whole == kDensePanel) {
      finish_vector<kBefore, kBehind>(sums + kDenseLanes, sum_at(kDenseLanes), dst + kDenseLanes,
                                      activate);
    } else if (whole < columns) {
      finish_values<kBefore, kBehind>(columns - whole, sums + whole, sum_at(whole), dst + whole,
                                      activate);
    }
    if (kBefore || kBehind) sum += row;
  }
}

template <class T>
HET_BFLOAT16_TARGET void finish_tile(const DenseTail& tail, int64_t rows, int64_t columns,
                                     int64_t row, const float* sums, const T* sum, T* dst) {
  using D = DenseTag;
  constexpr Accuracy kAccuracy = std::is_same_v<T, float> ? Accuracy::Float32 : Accuracy::BFloat16;
  const auto finish = [&](const auto& activate) HET_BFLOAT16_TARGET {
    if (tail.adds_before) {
      finish_rows<true, false>(rows, columns, row, sums, sum, dst, activate);
    } else if (tail.adds_behind) {
      finish_rows<false, true>(rows, columns, row, sums, sum, dst, activate);
    } else {
      finish_rows<false, false>(rows, columns, row, sums, sum, dst, activate);
    }
  };
  if (!tail.activation) return finish([](D, V x) { return x; });
  const float alpha = tail.activation->alpha;
  switch (tail.activation->kind) {
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

template <class T>
void multiply_part(const DenseShape& shape, const DenseTail& tail, const DenseOperands& operands,
                   const DensePart& part) {
  alignas(64) std::array<float, kDenseRows * kDensePanel> sums;
  const auto* const sum = reinterpret_cast<const T*>(operands.sum);
  const int64_t blocks = dense_row_blocks(shape);
  // Rows are spread evenly over the blocks: short ones would waste loads of weights.
  const auto first_row = [&](int64_t block) { return shape.rows * block / blocks; };
  const int64_t panel_values = shape.k * kDensePanel;
  // Rows of src and dst that stay in the second-level cache while all panels pass by.
  const int64_t block_bytes =
      kDenseRows * (shape.k * 2 + shape.n * static_cast<int64_t>(sizeof(T)));
  const int64_t together = std::max<int64_t>(second_level_bytes() / 2 / block_bytes, 1);
  for (int64_t begin = part.row_blocks_begin; begin < part.row_blocks_end; begin += together) {
    const int64_t end = std::min(begin + together, part.row_blocks_end);
    // Every line of the next panel is fetched by one of the blocks: steps are rounded up.
    const int64_t share = (panel_values * 2 + end - begin - 1) / (end - begin);
    const int64_t step = (share + shape.k / 2 - 1) / std::max<int64_t>(shape.k / 2, 1);
    for (int64_t panel = part.panels_begin; panel < part.panels_end; ++panel) {
      const int64_t column = panel * kDensePanel;
      const int64_t columns = std::min<int64_t>(kDensePanel, shape.n - column);
      const BFloat16* const weights = operands.weights + panel * panel_values;
      // Nothing is fetched behind the last panel: the same lines again cost nothing.
      const auto* next = reinterpret_cast<const char*>(
          panel + 1 < part.panels_end ? weights + panel_values : weights);
      for (int64_t block = begin; block < end; ++block) {
        const int64_t row = first_row(block);
        const int64_t rows = first_row(block + 1) - row;
        const DenseTile tile{
            operands.src + row * shape.k,   shape.k, weights,    operands.bias + column,
            next + (block - begin) * share, step,    sums.data()};
        if (columns > kDenseLanes) {
          multiply_dense_rows<kDenseRows, 2>(rows, tile);
        } else {
          multiply_dense_rows<kDenseRows, 1>(rows, tile);
        }
        const int64_t offset = row * shape.n + column;
        finish_tile<T>(tail, rows, columns, shape.n, sums.data(),
                       sum == nullptr ? nullptr : sum + offset,
                       reinterpret_cast<T*>(operands.dst) + offset);
      }
    }
  }
}

void multiply_any(const DenseShape& shape, const DenseTail& tail, const DenseOperands& operands,
                  const DensePart& part) {
  if (shape.dst == ElementType::Float32) {
    multiply_part<float>(shape, tail, operands, part);
  } else {
    multiply_part<BFloat16>(shape, tail, operands, part);
  }
}

#else

// Never called: has_dense_bfloat16() is false.
void multiply_any(const DenseShape&, const DenseTail&, const DenseOperands&, const DensePart&) {}

#endif

bool multiplies_bfloat16() {
  return has_bfloat16_instructions();
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(multiplies_bfloat16);
HWY_EXPORT(multiply_any);

bool has_dense_bfloat16() {
  return HWY_DYNAMIC_DISPATCH(multiplies_bfloat16)();
}

void pack_dense_panels(const DenseShape& shape, const float* weights, int64_t row_stride,
                       int64_t column_stride, int64_t begin, int64_t end, BFloat16* packed) {
  for (int64_t panel = begin; panel < end; ++panel) {
    const int64_t first = panel * kDensePanel;
    const int64_t columns = std::min(kDensePanel, shape.n - first);
    for (int64_t i = 0; i < shape.k; i += 2) {
      std::array<float, 2 * kDensePanel> pairs{};
      const float* const from = weights + i * row_stride + first * column_stride;
      for (int64_t c = 0; c < columns; ++c) {
        pairs[static_cast<size_t>(2 * c)] = from[c * column_stride];
        pairs[static_cast<size_t>(2 * c + 1)] = from[row_stride + c * column_stride];
      }
      float_to_bfloat16_row(pairs.data(), pairs.size(),
                            packed + (panel * shape.k + i) * kDensePanel);
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
