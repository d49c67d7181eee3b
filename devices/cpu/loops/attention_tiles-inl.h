// Register tiles of attention's products. Included by the loops of attention after
// hwy/foreach_target.h, once per instruction set.
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "devices/cpu/loops/attention_packing-inl.h"

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
#include <immintrin.h>
#endif

#if defined(HET_ATTENTION_TILES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HET_ATTENTION_TILES_INL_H
#undef HET_ATTENTION_TILES_INL_H
#else
#define HET_ATTENTION_TILES_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Rows of the left side times one panel. Rows are four-byte words, pairs of values in bfloat16.
struct AttentionTile {
  const std::byte* left;
  int64_t left_row;  ///< bytes
  int64_t words;
  const std::byte* panel;
  float* sums;
  int64_t sums_row;
};

template <int kUsed, int kColumns>
void multiply_floats(const AttentionTile& tile) {
  const AttentionTag d;
  AttentionVector sums[kUsed][kColumns];
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
#pragma GCC unroll 2
    for (int k = 0; k < kColumns; ++k) sums[r][k] = hn::Zero(d);
  }
  const auto* left = reinterpret_cast<const float*>(tile.left);
  const auto* panel = reinterpret_cast<const float*>(tile.panel);
  const int64_t row = tile.left_row / static_cast<int64_t>(sizeof(float));
  for (int64_t i = 0; i < tile.words; ++i) {
    AttentionVector w[kColumns];
#pragma GCC unroll 2
    for (int k = 0; k < kColumns; ++k) w[k] = hn::Load(d, panel + k * kAttentionLanes);
    panel += kAttentionPanel;
#pragma GCC unroll 14
    for (int r = 0; r < kUsed; ++r) {
      const AttentionVector x = hn::Set(d, left[r * row + i]);
#pragma GCC unroll 2
      for (int k = 0; k < kColumns; ++k) sums[r][k] = hn::MulAdd(x, w[k], sums[r][k]);
    }
  }
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
#pragma GCC unroll 2
    for (int k = 0; k < kColumns; ++k) {
      hn::StoreU(sums[r][k], d, tile.sums + r * tile.sums_row + k * kAttentionLanes);
    }
  }
}

#ifdef HET_BFLOAT16_TARGET
template <int kUsed, int kColumns>
HET_BFLOAT16_TARGET void multiply_pairs(const AttentionTile& tile) {
  __m512 sums[kUsed][kColumns];
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
#pragma GCC unroll 2
    for (int k = 0; k < kColumns; ++k) sums[r][k] = _mm512_setzero_ps();
  }
  const std::byte* left = tile.left;
  const std::byte* panel = tile.panel;
  const int64_t row = tile.left_row;
  for (int64_t i = 0; i < tile.words; ++i) {
    __m512bh w[kColumns];
#pragma GCC unroll 2
    for (int k = 0; k < kColumns; ++k) w[k] = (__m512bh)_mm512_load_si512(panel + 64 * k);
    panel += 128;
#pragma GCC unroll 14
    for (int r = 0; r < kUsed; ++r) {
      int32_t bits;
      __builtin_memcpy(&bits, left + r * row, sizeof(bits));
      const auto x = (__m512bh)_mm512_set1_epi32(bits);
#pragma GCC unroll 2
      for (int k = 0; k < kColumns; ++k) sums[r][k] = _mm512_dpbf16_ps(sums[r][k], x, w[k]);
    }
    left += sizeof(int32_t);
  }
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
#pragma GCC unroll 2
    for (int k = 0; k < kColumns; ++k) {
      _mm512_storeu_ps(tile.sums + r * tile.sums_row + 16 * k, sums[r][k]);
    }
  }
}
#endif

/// Calls a tile's function for a number of rows up to kMost.
template <int kMost, int kColumns>
HWY_INLINE void multiply_rows(int64_t rows, bool pairs, const AttentionTile& tile) {
  if constexpr (kMost > 1) {
    if (rows < kMost) return multiply_rows<kMost - 1, kColumns>(rows, pairs, tile);
  }
#ifdef HET_BFLOAT16_TARGET
  if (pairs) return multiply_pairs<kMost, kColumns>(tile);
#else
  (void)pairs;
#endif
  multiply_floats<kMost, kColumns>(tile);
}

HWY_INLINE void multiply(int64_t rows, int64_t columns, bool pairs, const AttentionTile& tile) {
  if (columns > kAttentionLanes) return multiply_rows<kAttentionRows, 2>(rows, pairs, tile);
  multiply_rows<kAttentionRows, 1>(rows, pairs, tile);
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#endif  // HET_ATTENTION_TILES_INL_H
