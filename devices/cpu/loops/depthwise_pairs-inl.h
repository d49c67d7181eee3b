// Sums of depthwise convolutions of bfloat16, two rows of the source at a time,
// by the processor's products of pairs. Included by depthwise_loops.cpp after
// hwy/highway.h, once per instruction set.
#include <hwy/highway.h>

#include "devices/cpu/loops/depthwise_tile-inl.h"

#if defined(HET_DEPTHWISE_PAIRS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HET_DEPTHWISE_PAIRS_INL_H
#undef HET_DEPTHWISE_PAIRS_INL_H
#else
#define HET_DEPTHWISE_PAIRS_INL_H
#endif

#undef HET_DEPTHWISE_PAIRS
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
#define HET_DEPTHWISE_PAIRS

#include <immintrin.h>

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Two rows of src; a missing one is one pixel of zeros.
struct RowPair {
  RowPair(const DepthwiseShape& shape, const DepthwiseGroup<uint16_t>& group, int64_t y,
          int64_t offset) {
    for (int64_t i = 0; i < 2; ++i) {
      const bool is_there = y + i >= 0 && y + i < shape.ih;
      row[i] = is_there ? group.src + (y + i) * group.src_row + offset : group.padding;
      pixel[i] = is_there ? group.src_pixel : 0;
    }
  }
  const uint16_t* row[2];
  int64_t pixel[2];
};

/// Both values of each channel side by side.
HWY_INLINE __m512i interleaved(const uint16_t* upper, const uint16_t* lower, __m512i order) {
  const auto load = [](const uint16_t* from) HWY_ATTR {
    return _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  };
  return _mm512_permutex2var_epi16(load(upper), order, load(lower));
}

/// sum += products of pairs. Compilers know the instruction only in functions
/// that are made for such processors.
HWY_INLINE void add_pairs(__m512i values, DepthwiseVector weights, DepthwiseVector& sum) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(values), "v"(weights.raw));
}

/// As add_row() does, for a pair of rows.
template <class Filter, int kFirst, int kRows, Edge kEdge>
HWY_INLINE void add_row_pair(const RowPair& pair, uint32_t present, __m512i order,
                             const float* first_weights, const float* second_weights,
                             DepthwiseVector* sums) {
  const DepthwiseTag d;
  constexpr int kWidth = Filter::kWidth;
  constexpr int kStride = Filter::kStride;
  DepthwiseVector w[kRows][kWidth];
  unrolled<kWidth>([&](auto k) HET_INLINE_BODY {
    w[0][k] = hn::LoadU(d, first_weights + k * kChannels);
    if constexpr (kRows > 1) w[1][k] = hn::LoadU(d, second_weights + k * kChannels);
  });
  const uint16_t* upper = pair.row[0];
  const uint16_t* lower = pair.row[1];
  const int64_t upper_pixel = pair.pixel[0];
  const int64_t lower_pixel = pair.pixel[1];
  unrolled<Filter::kColumns>([&](auto c) HET_INLINE_BODY {
    const uint16_t* const upper_at = upper;
    const uint16_t* const lower_at = lower;
    upper += upper_pixel;
    lower += lower_pixel;
    constexpr bool kMayMiss =
        kEdge == Edge::Any ||
        (kEdge == Edge::Near && (c < kWidth / 2 || c >= Filter::kColumns - kWidth / 2));
    if (kMayMiss && (present & (1u << c)) == 0) return;
    const __m512i values = interleaved(upper_at, lower_at, order);
    constexpr int kNear = c < kWidth ? 0 : (c - kWidth) / kStride + 1;
    constexpr int kFar = std::min(c / kStride, kSumColumns - 1);
    unrolled<kRows*(kFar - kNear + 1)>([&](auto k) HET_INLINE_BODY {
      constexpr int r = k % kRows;
      constexpr int t = kNear + k / kRows;
      add_pairs(values, w[r][c - t * kStride], sums[(kFirst + r) * kSumColumns + t]);
    });
  });
}

/// As sum_rows() does. Without stride both rows of the result read the same
/// pairs; with stride 2 the second one begins a pair later.
template <class Filter, Edge kEdge>
HWY_NOINLINE void sum_pairs(const DepthwiseShape& shape, const DepthwiseGroup<uint16_t>& group,
                            const DepthwiseTail& tail, const DepthwiseTile& tile) {
  const int64_t top = tile.y * Filter::kStride - shape.pad_top;
  const int64_t left = tile.x * Filter::kStride - shape.pad_left;
  const auto bits = [](int64_t count) {
    return (1u << std::clamp<int64_t>(count, 0, Filter::kColumns)) - 1u;
  };
  const uint32_t present = kEdge != Edge::None ? bits(shape.iw - left) & ~bits(-left) : ~0u;
  const int64_t step = Filter::kWidth * kChannels;
  const int64_t pairs = shape.pairs();
  const float* const first_weights = group.weights;
  const float* const second_weights = group.weights + pairs * step;
  alignas(64) constexpr int16_t kOrder[] = {0,  32, 1,  33, 2,  34, 3,  35, 4,  36, 5,
                                            37, 6,  38, 7,  39, 8,  40, 9,  41, 10, 42,
                                            11, 43, 12, 44, 13, 45, 14, 46, 15, 47};
  const __m512i order = _mm512_load_si512(kOrder);
  DepthwiseVector sums[kSums];
  start_sums(group.bias, sums);
  // Pairs with a row in the picture.
  const int64_t begin = top < 0 ? -top / 2 : 0;
  const int64_t rows_end = shape.ih - top;
  const auto pair_at = [&](int64_t p) HET_INLINE_BODY {
    return RowPair(shape, group, top + 2 * p, left * group.src_pixel);
  };
  if constexpr (Filter::kStride == 1) {
    const int64_t end = std::min(pairs, (rows_end + 1) / 2);
    for (int64_t p = begin; p < end; ++p) {
      add_row_pair<Filter, 0, 2, kEdge>(pair_at(p), present, order, first_weights + p * step,
                                        second_weights + p * step, sums);
    }
  } else {
    const int64_t own = (shape.kh + 1) / 2;
    const int64_t end = std::min(own + 1, (rows_end + 1) / 2);
    int64_t p = begin;
    for (; p < std::min<int64_t>(end, 1); ++p) {
      add_row_pair<Filter, 0, 1, kEdge>(pair_at(p), present, order, first_weights, nullptr, sums);
    }
    for (; p < std::min(end, own); ++p) {
      add_row_pair<Filter, 0, 2, kEdge>(pair_at(p), present, order, first_weights + p * step,
                                        first_weights + (p - 1) * step, sums);
    }
    for (; p < end; ++p) {
      add_row_pair<Filter, 1, 1, kEdge>(pair_at(p), present, order, first_weights + (p - 1) * step,
                                        nullptr, sums);
    }
  }
  finish_depthwise<kEdge != Edge::Any>(shape, group, tail, tile, sums);
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#endif  // AVX-512

#endif  // per instruction set
