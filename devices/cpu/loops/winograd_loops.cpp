#include "devices/cpu/loops/winograd_loops.h"

#include <algorithm>
#include <type_traits>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/winograd_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/strided_winograd_loops.h"
#include "devices/cpu/loops/winograd_points.h"
#include "devices/cpu/loops/winograd_products-inl.h"
#include "devices/cpu/loops/winograd_results-inl.h"
#include "devices/cpu/loops/winograd_source-inl.h"
#include "devices/cpu/loops/winograd_weights-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// One dimension of the transform of the source, B^T d: 2 P + 2 values at the points 0, +-a, and
/// infinity.
template <int P>
struct WinogradSource {
  static constexpr int kSide = 2 * P + 2;
  using Points = WinogradPoints<P>;

  template <class D>
  static HWY_INLINE void transform(D d, const hn::Vec<D>* in, hn::Vec<D>* out) {
    using V = hn::Vec<D>;
    V zero = in[2 * P];
    V infinity = in[2 * P + 1];
#pragma GCC unroll 8
    for (int k = 0; k < P; ++k) {
      const V c = hn::Set(d, Points::whole(k));
      zero = hn::MulAdd(c, in[2 * k], zero);
      infinity = hn::MulAdd(c, in[2 * k + 1], infinity);
    }
    out[0] = zero;
    out[2 * P + 1] = infinity;
#pragma GCC unroll 8
    for (int pair = 0; pair < P; ++pair) {
      V even = in[2 * P];
      V odd = in[2 * P - 1];
#pragma GCC unroll 8
      for (int k = 0; k < P - 1; ++k) {
        const V c = hn::Set(d, Points::without(pair, k));
        even = hn::MulAdd(c, in[2 * k + 2], even);
        odd = hn::MulAdd(c, in[2 * k + 1], odd);
      }
      const V a = hn::Set(d, Points::point(pair));
      out[2 * pair + 1] = hn::MulAdd(a, odd, even);
      out[2 * pair + 2] = hn::NegMulAdd(a, odd, even);
    }
  }
};

/// One dimension of the transform of the products, A^T m.
template <int P>
struct WinogradResults {
  static constexpr int kM = 2 * P;
  static constexpr int kAlpha = 2 * P + 2;
  using Points = WinogradPoints<P>;

  template <class D>
  static HWY_INLINE void transform(D d, const hn::Vec<D>* in, hn::Vec<D>* out) {
    using V = hn::Vec<D>;
    V sums[P];
    V differences[P];
#pragma GCC unroll 8
    for (int pair = 0; pair < P; ++pair) {
      sums[pair] = hn::Add(in[2 * pair + 1], in[2 * pair + 2]);
      differences[pair] = hn::Sub(in[2 * pair + 1], in[2 * pair + 2]);
    }
    V first = hn::Add(in[0], sums[0]);
#pragma GCC unroll 8
    for (int pair = 1; pair < P; ++pair) first = hn::Add(first, sums[pair]);
    out[0] = first;
#pragma GCC unroll 8
    for (int i = 1; i < 2 * P; ++i) {
      const V* terms = i % 2 == 0 ? sums : differences;
      const float power = Points::power(0, i);
      V sum = power == 1.0f ? terms[0] : hn::Mul(hn::Set(d, power), terms[0]);
      if (i == 2 * P - 1) sum = hn::Add(sum, in[2 * P + 1]);
#pragma GCC unroll 8
      for (int pair = 1; pair < P; ++pair) {
        sum = hn::MulAdd(hn::Set(d, Points::power(pair, i)), terms[pair], sum);
      }
      out[i] = sum;
    }
  }
};

/// G g of a row of points: one value per column of the kernel.
template <int kBlock, bool kOneTap>
HWY_INLINE void combine_taps(const float* taps, hn::Vec<BlockTag<kBlock>> first,
                             hn::Vec<BlockTag<kBlock>> second, hn::Vec<BlockTag<kBlock>> third,
                             hn::Vec<BlockTag<kBlock>>* out) {
  const BlockTag<kBlock> d;
  constexpr int kCount = kGroup<kBlock>;
#pragma GCC unroll 4
  for (int x = 0; x < 3; ++x) {
    out[x] = hn::Mul(first, hn::Load(d, taps + x * kCount));
    if (kOneTap) continue;
    out[x] = hn::MulAdd(second, hn::Load(d, taps + (3 + x) * kCount), out[x]);
    out[x] = hn::MulAdd(third, hn::Load(d, taps + (6 + x) * kCount), out[x]);
  }
}

/// A row of G g G^T for the taps [channels][9][kGroup] of a group: `dst` is
/// [alpha][channels][kGroup]. Meanwhile `ahead`, as much as a row's part of these taps, is fetched
/// from memory.
template <int P, int kBlock, bool kOneTap>
HWY_INLINE void transform_weights_row(int row, const float* taps, int64_t channels,
                                      const float* ahead, float* dst) {
  constexpr int kAlpha = 2 * P + 2;
  constexpr int kCount = kGroup<kBlock>;
  using Points = WinogradPoints<P>;
  const BlockTag<kBlock> d;
  using V = hn::Vec<BlockTag<kBlock>>;
  // The first row takes the first tap alone, the last row the last.
  const bool last = kOneTap && row != 0;
  if (last) taps += 6 * kCount;
  const V first = hn::Set(d, static_cast<float>(Points::weight(row, last ? 2 : 0)));
  const V second = hn::Set(d, static_cast<float>(Points::weight(row, 1)));
  const V third = hn::Set(d, static_cast<float>(Points::weight(row, 2)));
  for (int64_t k = 0; k < channels; ++k, taps += 9 * kCount, dst += kCount) {
    constexpr int kAhead = 9 * kCount / kAlpha;
    for (int i = 0; i < kAhead; i += 16) __builtin_prefetch(ahead + k * kAhead + i, 0, 2);
#pragma GCC unroll 4
    for (int v = 0; v < kCount; v += kLanes<kBlock>) {
      V w[3];
      combine_taps<kBlock, kOneTap>(taps + v, first, second, third, w);
      const int64_t step = kLateRow<kBlock>;
      hn::Store(hn::Mul(hn::Set(d, static_cast<float>(Points::weight(0, 0))), w[0]), d, dst + v);
      hn::Store(w[2], d, dst + (kAlpha - 1) * step + v);
#pragma GCC unroll 4
      for (int pair = 0; pair < P; ++pair) {
        const int at = 2 * pair + 1;
        V even = hn::Mul(hn::Set(d, static_cast<float>(Points::weight(at, 0))), w[0]);
        even = hn::MulAdd(hn::Set(d, static_cast<float>(Points::weight(at, 2))), w[2], even);
        const V odd = hn::Set(d, static_cast<float>(Points::weight(at, 1)));
        hn::Store(hn::MulAdd(odd, w[1], even), d, dst + at * step + v);
        hn::Store(hn::NegMulAdd(odd, w[1], even), d, dst + (at + 1) * step + v);
      }
    }
  }
}

/// The products of one group at all points, one row of points after the other.
template <int P, int kBlock, int kColumns>
void multiply_all(const WinogradShape& shape, const float* transformed, int64_t tiles,
                  const float* packed, int64_t group, float* products) {
  constexpr int kAlpha = 2 * P + 2;
  constexpr int kCount = kGroup<kBlock>;
  constexpr int kBlocksAtOnce = kLateChannels / kBlock;
  const WinogradStrides strides(shape, tiles, kCount);
  const int64_t blocks = shape.ic_blocks();
  const int64_t panel = blocks * kBlock * kCount;
  if (!shape.late_weights) {
    const float* weights = packed + group * shape.points() * panel;
    // Point by point, since a point's weights stay in the first-level cache.
    for (int64_t point = 0; point < shape.points(); ++point) {
      multiply_points<kBlock, kColumns>(
          {.points = 1,
           .ic_blocks = blocks,
           .term_count = 1,
           .terms = {{transformed + point * strides.src_point, weights + point * panel, 0}},
           .src_point = 0,
           .src_block = strides.src_block,
           .add = false,
           .dst = products + point * strides.product_point,
           .dst_point = 0},
          tiles);
    }
    return;
  }
  // A row's weights for some channels and its products stay in the first-level cache.
  float* weights = products + shape.points() * strides.product_point;
  const float* taps = packed + group * 9 * panel;
  for (int64_t block = 0; block < blocks; block += kBlocksAtOnce) {
    const int64_t count = std::min<int64_t>(kBlocksAtOnce, blocks - block);
    const float* next = taps + count * kBlock * 9 * kCount;
    for (int row = 0; row < kAlpha; ++row) {
      const int64_t point = row * kAlpha;
      const PointRange range = {
          .points = kAlpha,
          .ic_blocks = count,
          .term_count = 1,
          .terms = {{transformed + point * strides.src_point + block * strides.src_block, weights,
                     kLateRow<kBlock>}},
          .src_point = strides.src_point,
          .src_block = strides.src_block,
          .add = block > 0,
          .dst = products + point * strides.product_point,
          .dst_point = strides.product_point};
      const float* ahead = next + row * count * kBlock * (9 * kCount / kAlpha);
      if (row == 0 || row == kAlpha - 1) {
        transform_weights_row<P, kBlock, true>(row, taps, count * kBlock, ahead, weights);
      } else {
        transform_weights_row<P, kBlock, false>(row, taps, count * kBlock, ahead, weights);
      }
      multiply_points<kBlock, kColumns>(range, tiles);
    }
    taps = next;
  }
}

template <int P, int kBlock>
void multiply_group(const WinogradShape& shape, const float* transformed, int64_t first,
                    int64_t tiles, const float* packed, const float* bias, int64_t group,
                    const WinogradTail& tail, float* products, void* dst) {
  const int64_t begin = group * kGroup<kBlock>;
  const int64_t end = std::min(begin + kGroup<kBlock>, shape.oc_blocks() * kBlock);
  if (end - begin == kGroup<kBlock>) {
    multiply_all<P, kBlock, kVectors>(shape, transformed, tiles, packed, group, products);
  } else {
    multiply_all<P, kBlock, kVectors / 2>(shape, transformed, tiles, packed, group, products);
  }
  if (shape.dst.type == ElementType::BFloat16) {
    transform_dst<WinogradResults<P>, kBlock>(shape, products, first, tiles, bias, begin, end, tail,
                                              static_cast<uint16_t*>(dst));
  } else {
    transform_dst<WinogradResults<P>, kBlock>(shape, products, first, tiles, bias, begin, end, tail,
                                              static_cast<float*>(dst));
  }
}

template <class F>
HWY_INLINE void for_shape(const WinogradShape& shape, F f) {
  const auto with_block = [&](auto pairs) {
    if (shape.block == 16) return f(pairs, std::integral_constant<int, 16>());
    return f(pairs, std::integral_constant<int, 8>());
  };
  if (shape.m == 2) return with_block(std::integral_constant<int, 1>());
  if (shape.m == 4) return with_block(std::integral_constant<int, 2>());
  return with_block(std::integral_constant<int, 3>());
}

void src_of(const WinogradShape& shape, const void* src, int64_t first, int64_t tiles,
            int64_t block_begin, int64_t block_end, float* transformed) {
  for_shape(shape, [&](auto pairs, auto block) HWY_ATTR {
    if (shape.src.type == ElementType::BFloat16) {
      transform_src<WinogradSource<pairs>, block>(shape, static_cast<const uint16_t*>(src), first,
                                                  tiles, block_begin, block_end, transformed);
    } else {
      transform_src<WinogradSource<pairs>, block>(shape, static_cast<const float*>(src), first,
                                                  tiles, block_begin, block_end, transformed);
    }
  });
}

void group_of(const WinogradShape& shape, const float* transformed, int64_t first, int64_t tiles,
              const float* packed, const float* bias, int64_t group, const WinogradTail& tail,
              float* products, void* dst) {
  for_shape(shape, [&](auto pairs, auto block) HWY_ATTR {
    multiply_group<pairs, block>(shape, transformed, first, tiles, packed, bias, group, tail,
                                 products, dst);
  });
}

void pack_group(const WinogradShape& shape, const float* weights, int64_t group, float* packed) {
  for_shape(shape, [&](auto pairs, auto block) HWY_ATTR {
    pack_weights<WinogradPoints<pairs>, block>(shape, weights, group, packed);
  });
}

int64_t group_size(int64_t block) {
  return block == 16 ? kGroup<16> : kGroup<8>;
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(src_of);
HWY_EXPORT(group_of);
HWY_EXPORT(pack_group);
HWY_EXPORT(group_size);

int64_t winograd_group(const WinogradShape& shape) {
  return HWY_DYNAMIC_DISPATCH(group_size)(shape.block);
}

size_t winograd_weights_count(const WinogradShape& shape) {
  return static_cast<size_t>(winograd_groups(shape) * winograd_group(shape) *
                             (shape.late_weights ? 9 : shape.weight_values()) * shape.ic_blocks() *
                             shape.block);
}

size_t winograd_src_count(const WinogradShape& shape, int64_t tiles) {
  return static_cast<size_t>(shape.ic_blocks() * shape.src_values() * (tiles * shape.block + 16));
}

size_t winograd_products_count(const WinogradShape& shape, int64_t tiles) {
  const int64_t group = winograd_group(shape);
  // With stride 2 those of two rows.
  const int64_t late =
      shape.late_weights ? shape.stride * (shape.m + 2) * (kLateChannels * group + 16) : 0;
  return static_cast<size_t>(shape.points() * (tiles * group + 16) + late);
}

void transform_winograd_src(const WinogradShape& shape, const void* src, int64_t first,
                            int64_t tiles, int64_t block_begin, int64_t block_end,
                            float* transformed) {
  if (shape.stride == 2) {
    transform_strided_winograd_src(shape, static_cast<const float*>(src), first, tiles, block_begin,
                                   block_end, transformed);
    return;
  }
  HWY_DYNAMIC_DISPATCH(src_of)(shape, src, first, tiles, block_begin, block_end, transformed);
}

void multiply_winograd_group(const WinogradShape& shape, const float* transformed, int64_t first,
                             int64_t tiles, const float* packed, const float* bias, int64_t group,
                             const WinogradTail& tail, float* products, void* dst) {
  if (shape.stride == 2) {
    multiply_strided_winograd_group(shape, transformed, first, tiles, packed, bias, group, tail,
                                    products, static_cast<float*>(dst));
    return;
  }
  HWY_DYNAMIC_DISPATCH(group_of)
  (shape, transformed, first, tiles, packed, bias, group, tail, products, dst);
}

void pack_winograd_weights(const WinogradShape& shape, const float* weights, int64_t group,
                           float* packed) {
  if (shape.stride == 2) {
    pack_strided_winograd_weights(shape, weights, group, packed);
    return;
  }
  HWY_DYNAMIC_DISPATCH(pack_group)(shape, weights, group, packed);
}

}  // namespace het::cpu
#endif
