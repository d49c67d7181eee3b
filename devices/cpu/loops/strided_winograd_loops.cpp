#include "devices/cpu/loops/strided_winograd_loops.h"

#include <algorithm>
#include <type_traits>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/strided_winograd_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/winograd_points.h"
#include "devices/cpu/loops/winograd_products-inl.h"
#include "devices/cpu/loops/winograd_results-inl.h"
#include "devices/cpu/loops/winograd_source-inl.h"
#include "devices/cpu/loops/winograd_weights-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The points are those of WinogradPoints<P> without 0: +-a_1 ... +-a_P and infinity. With
// W(x) = (x^2 - a_1^2) ... the row of B^T at a point a holds the coefficients of W(x) / (x - a),
// that at infinity those of W.

/// One dimension of the transform of the source: 4 P + 1 values become those of the even ones at
/// all 2 P + 1 points, then those of the odd ones at the 2 P finite points.
template <int P>
struct StridedWinogradSource {
  static constexpr int kSide = 4 * P + 1;

  template <class D>
  static HWY_INLINE void transform(D d, const hn::Vec<D>* in, hn::Vec<D>* out) {
    using V = hn::Vec<D>;
    using Points = WinogradPoints<P>;
    V infinity = in[4 * P];
#pragma GCC unroll 8
    for (int k = 0; k < P; ++k) {
      infinity = hn::MulAdd(hn::Set(d, Points::whole(k)), in[4 * k], infinity);
    }
    out[2 * P] = infinity;
    transform_finite(d, in, out);
    transform_finite(d, in + 1, out + 2 * P + 1);
  }

 private:
  /// Every second value of `in`.
  template <class D>
  static HWY_INLINE void transform_finite(D d, const hn::Vec<D>* in, hn::Vec<D>* out) {
    using V = hn::Vec<D>;
    using Points = WinogradPoints<P>;
#pragma GCC unroll 8
    for (int pair = 0; pair < P; ++pair) {
      V even = in[4 * P - 4];
      V odd = in[4 * P - 2];
#pragma GCC unroll 8
      for (int k = 0; k < P - 1; ++k) {
        const V c = hn::Set(d, Points::without(pair, k));
        even = hn::MulAdd(c, in[4 * k], even);
        odd = hn::MulAdd(c, in[4 * k + 2], odd);
      }
      const V a = hn::Set(d, Points::point(pair));
      out[2 * pair] = hn::MulAdd(a, even, odd);
      out[2 * pair + 1] = hn::NegMulAdd(a, even, odd);
    }
  }
};

/// One dimension of the transform of the products: the powers of the points, divided by W'(a),
/// which has another sign at -a.
template <int P>
struct StridedWinogradResults {
  static constexpr int kM = 2 * P;
  static constexpr int kAlpha = 2 * P + 1;

  template <class D>
  static HWY_INLINE void transform(D d, const hn::Vec<D>* in, hn::Vec<D>* out) {
    using V = hn::Vec<D>;
    V sums[P];
    V differences[P];
#pragma GCC unroll 8
    for (int pair = 0; pair < P; ++pair) {
      sums[pair] = hn::Add(in[2 * pair], in[2 * pair + 1]);
      differences[pair] = hn::Sub(in[2 * pair], in[2 * pair + 1]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 2 * P; ++i) {
      const V* terms = i % 2 == 0 ? differences : sums;
      const V power = hn::Set(d, scaled_power(0, i));
      V sum = i == 2 * P - 1 ? hn::MulAdd(power, terms[0], in[2 * P]) : hn::Mul(power, terms[0]);
#pragma GCC unroll 8
      for (int pair = 1; pair < P; ++pair) {
        sum = hn::MulAdd(hn::Set(d, scaled_power(pair, i)), terms[pair], sum);
      }
      out[i] = sum;
    }
  }

 private:
  static constexpr float scaled_power(int pair, int i) {
    using Points = WinogradPoints<P>;
    double slope = 2.0 * Points::exact_point(pair);
    for (int other = 0; other < P; ++other) {
      if (other != pair) slope *= Points::exact_square(pair) - Points::exact_square(other);
    }
    return static_cast<float>(Points::exact_power(pair, i) / slope);
  }
};

/// G: the weights of two taps by point, then the single tap.
template <int P>
struct StridedWinogradWeights {
  static constexpr int kRows = 2 * P + 2;
  static constexpr int kInfinity = 2 * P;
  static constexpr int kSingle = 2 * P + 1;

  static constexpr double weight(int row, int tap) {
    if (row == kSingle) return tap == 1 ? 1.0 : 0.0;
    if (row == kInfinity) return tap == 2 ? 1.0 : 0.0;
    if (tap == 0) return 1.0;
    return tap == 1 ? 0.0 : point(row);
  }
  static constexpr double point(int row) {
    const double a = WinogradPoints<P>::exact_point(row / 2);
    return row % 2 == 0 ? a : -a;
  }
};

/// A row of G g G^T for the taps [channels][9][kGroup] of a group: `dst` is
/// [2 P + 2][channels][kGroup]. Meanwhile `ahead`, as much as a row's part of these taps, is
/// fetched from memory.
template <int P, int kBlock>
HWY_INLINE void transform_strided_weights_row(int row, const float* taps, int64_t channels,
                                              const float* ahead, float* dst) {
  using Weights = StridedWinogradWeights<P>;
  constexpr int kCount = kGroup<kBlock>;
  constexpr int64_t kStep = kLateRow<kBlock>;
  const BlockTag<kBlock> d;
  using V = hn::Vec<BlockTag<kBlock>>;
  const bool has_two = row < Weights::kInfinity;
  const V factor = hn::Set(d, has_two ? static_cast<float>(Weights::point(row)) : 0.0f);
  if (row == Weights::kSingle) taps += 3 * kCount;
  if (row == Weights::kInfinity) taps += 6 * kCount;
  for (int64_t k = 0; k < channels; ++k, taps += 9 * kCount, dst += kCount) {
    constexpr int kAhead = 9 * kCount / Weights::kRows;
    for (int i = 0; i < kAhead; i += 16) __builtin_prefetch(ahead + k * kAhead + i, 0, 2);
#pragma GCC unroll 4
    for (int v = 0; v < kCount; v += kLanes<kBlock>) {
      V w[3];
#pragma GCC unroll 4
      for (int x = 0; x < 3; ++x) w[x] = hn::Load(d, taps + x * kCount + v);
      if (has_two) {
#pragma GCC unroll 4
        for (int x = 0; x < 3; ++x) {
          w[x] = hn::MulAdd(factor, hn::Load(d, taps + (6 + x) * kCount + v), w[x]);
        }
      }
#pragma GCC unroll 4
      for (int pair = 0; pair < P; ++pair) {
        const V a = hn::Set(d, WinogradPoints<P>::point(pair));
        hn::Store(hn::MulAdd(a, w[2], w[0]), d, dst + 2 * pair * kStep + v);
        hn::Store(hn::NegMulAdd(a, w[2], w[0]), d, dst + (2 * pair + 1) * kStep + v);
      }
      hn::Store(w[2], d, dst + Weights::kInfinity * kStep + v);
      hn::Store(w[1], d, dst + Weights::kSingle * kStep + v);
    }
  }
}

/// Weights of a row of points, and of the single taps of a column; `step` from one to the next.
struct StridedWeightRows {
  const float *row, *single;
  int64_t step;
};

/// A row of points: f() for the finite ones, then for infinity.
template <int P, class F>
HWY_INLINE void for_points_of_row(const WinogradStrides& strides, const float* src, int row,
                                  const StridedWeightRows& weights, int64_t ic_blocks, bool add,
                                  float* products, const F& f) {
  using Weights = StridedWinogradWeights<P>;
  constexpr int kSide = StridedWinogradSource<P>::kSide;
  constexpr int kAlpha = StridedWinogradResults<P>::kAlpha;
  const auto src_at = [&](int y, int x) { return src + (y * kSide + x) * strides.src_point; };
  const bool finite = row < Weights::kInfinity;
  PointRange range = {
      .points = 2 * P,
      .ic_blocks = ic_blocks,
      .term_count = 2,
      .terms = {{src_at(row, 0), weights.row, weights.step},
                {src_at(row, kAlpha), weights.row + Weights::kSingle * weights.step, 0}},
      .src_point = strides.src_point,
      .src_block = strides.src_block,
      .add = add,
      .dst = products + row * kAlpha * strides.product_point,
      .dst_point = strides.product_point};
  if (finite) {
    range.term_count = 4;
    range.terms[2] = {src_at(kAlpha + row, 0), weights.single, weights.step};
    range.terms[3] = {src_at(kAlpha + row, kAlpha),
                      weights.single + Weights::kSingle * weights.step, 0};
  }
  f(range);
  constexpr int kInfinity = Weights::kInfinity;
  range.points = 1;
  range.term_count = finite ? 2 : 1;
  range.terms[0] = {src_at(row, kInfinity), weights.row + kInfinity * weights.step, 0};
  if (finite) {
    range.terms[1] = {src_at(kAlpha + row, kInfinity), weights.single + kInfinity * weights.step,
                      0};
  }
  range.dst += kInfinity * strides.product_point;
  f(range);
}

/// The products of one group at all points, one row of points after the other.
template <int P, int kBlock, int kColumns>
void multiply_strided_all(const WinogradShape& shape, const float* transformed, int64_t tiles,
                          const float* packed, int64_t group, float* products) {
  using Weights = StridedWinogradWeights<P>;
  constexpr int kAlpha = StridedWinogradResults<P>::kAlpha;
  constexpr int kCount = kGroup<kBlock>;
  constexpr int kBlocksAtOnce = kLateChannels / kBlock;
  const WinogradStrides strides(shape, tiles, kCount);
  const int64_t blocks = shape.ic_blocks();
  const int64_t panel = blocks * kBlock * kCount;
  if (!shape.late_weights) {
    const float* weights = packed + group * shape.weight_values() * panel;
    const float* single = weights + Weights::kSingle * Weights::kRows * panel;
    for (int row = 0; row < kAlpha; ++row, weights += Weights::kRows * panel) {
      for_points_of_row<P>(strides, transformed, row, {weights, single, panel}, blocks, false,
                           products, [&](PointRange range) HWY_ATTR {
                             // Point by point, since a point's weights stay in the first-level
                             // cache.
                             const int64_t points = range.points;
                             range.points = 1;
                             for (int64_t point = 0; point < points; ++point) {
                               multiply_points<kBlock, kColumns>(range, tiles);
                               for (int i = 0; i < range.term_count; ++i) {
                                 range.terms[i].src += range.src_point;
                                 range.terms[i].weights += range.terms[i].weights_point;
                               }
                               range.dst += range.dst_point;
                             }
                           });
    }
    return;
  }
  // The weights of two rows for some channels stay in the cache, the products near by.
  float* weights = products + shape.points() * strides.product_point;
  float* single = weights + Weights::kRows * kLateRow<kBlock>;
  const float* taps = packed + group * 9 * panel;
  for (int64_t block = 0; block < blocks; block += kBlocksAtOnce) {
    const int64_t count = std::min<int64_t>(kBlocksAtOnce, blocks - block);
    const int64_t channels = count * kBlock;
    const float* next = taps + channels * 9 * kCount;
    const auto transform = [&](int row, float* to) HWY_ATTR {
      const float* ahead = next + row * channels * (9 * kCount / Weights::kRows);
      transform_strided_weights_row<P, kBlock>(row, taps, channels, ahead, to);
    };
    transform(Weights::kSingle, single);
    for (int row = 0; row < kAlpha; ++row) {
      transform(row, weights);
      for_points_of_row<P>(strides, transformed + block * strides.src_block, row,
                           {weights, single, kLateRow<kBlock>}, count, block > 0, products,
                           [&](const PointRange& range)
                               HWY_ATTR { multiply_points<kBlock, kColumns>(range, tiles); });
    }
    taps = next;
  }
}

template <int P, int kBlock>
void multiply_strided_group(const WinogradShape& shape, const float* transformed, int64_t first,
                            int64_t tiles, const float* packed, const float* bias, int64_t group,
                            const WinogradTail& tail, float* products, float* dst) {
  const int64_t begin = group * kGroup<kBlock>;
  const int64_t end = std::min(begin + kGroup<kBlock>, shape.oc_blocks() * kBlock);
  if (end - begin == kGroup<kBlock>) {
    multiply_strided_all<P, kBlock, kVectors>(shape, transformed, tiles, packed, group, products);
  } else {
    multiply_strided_all<P, kBlock, kVectors / 2>(shape, transformed, tiles, packed, group,
                                                  products);
  }
  transform_dst<StridedWinogradResults<P>, kBlock>(shape, products, first, tiles, bias, begin, end,
                                                   tail, dst);
}

template <class F>
HWY_INLINE void for_strided_shape(const WinogradShape& shape, F f) {
  const auto with_block = [&](auto pairs) {
    if (shape.block == 16) return f(pairs, std::integral_constant<int, 16>());
    return f(pairs, std::integral_constant<int, 8>());
  };
  if (shape.m == 2) return with_block(std::integral_constant<int, 1>());
  return with_block(std::integral_constant<int, 2>());
}

void strided_src_of(const WinogradShape& shape, const float* src, int64_t first, int64_t tiles,
                    int64_t block_begin, int64_t block_end, float* transformed) {
  for_strided_shape(shape, [&](auto pairs, auto block) HWY_ATTR {
    transform_src<StridedWinogradSource<pairs>, block>(shape, src, first, tiles, block_begin,
                                                       block_end, transformed);
  });
}

void strided_group_of(const WinogradShape& shape, const float* transformed, int64_t first,
                      int64_t tiles, const float* packed, const float* bias, int64_t group,
                      const WinogradTail& tail, float* products, float* dst) {
  for_strided_shape(shape, [&](auto pairs, auto block) HWY_ATTR {
    multiply_strided_group<pairs, block>(shape, transformed, first, tiles, packed, bias, group,
                                         tail, products, dst);
  });
}

void pack_strided_group(const WinogradShape& shape, const float* weights, int64_t group,
                        float* packed) {
  for_strided_shape(shape, [&](auto pairs, auto block) HWY_ATTR {
    pack_weights<StridedWinogradWeights<pairs>, block>(shape, weights, group, packed);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(strided_src_of);
HWY_EXPORT(strided_group_of);
HWY_EXPORT(pack_strided_group);

void transform_strided_winograd_src(const WinogradShape& shape, const float* src, int64_t first,
                                    int64_t tiles, int64_t block_begin, int64_t block_end,
                                    float* transformed) {
  HWY_DYNAMIC_DISPATCH(strided_src_of)
  (shape, src, first, tiles, block_begin, block_end, transformed);
}

void multiply_strided_winograd_group(const WinogradShape& shape, const float* transformed,
                                     int64_t first, int64_t tiles, const float* packed,
                                     const float* bias, int64_t group, const WinogradTail& tail,
                                     float* products, float* dst) {
  HWY_DYNAMIC_DISPATCH(strided_group_of)
  (shape, transformed, first, tiles, packed, bias, group, tail, products, dst);
}

void pack_strided_winograd_weights(const WinogradShape& shape, const float* weights, int64_t group,
                                   float* packed) {
  HWY_DYNAMIC_DISPATCH(pack_strided_group)(shape, weights, group, packed);
}

}  // namespace het::cpu
#endif
