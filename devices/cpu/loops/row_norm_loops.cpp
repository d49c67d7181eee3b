#include "devices/cpu/loops/row_norm_loops.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "devices/cpu/loops/wide_moments.h"

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/row_norm_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/bfloat16-inl.h"
#include "devices/cpu/loops/channel_values-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using NormTag = hn::CappedTag<float, 16>;
using NormVector = hn::Vec<NormTag>;
constexpr size_t kNormLanes = hn::MaxLanes(NormTag());

/// Rows side by side: their sums share the work that leads from vectors to numbers.
constexpr size_t kNormRows = 16;

/// The sums of the lanes of kNormRows vectors.
HWY_INLINE void sum_each(const float* vectors, float* sums) {
#if HWY_TARGET == HWY_SCALAR
  std::copy_n(vectors, kNormRows, sums);
#else
  const NormTag d;
  const hn::CappedTag<float, 4> quad;
  const hn::Repartition<uint64_t, NormTag> pairs;
  for (size_t r = 0; r < kNormRows; r += 4, vectors += 4 * kNormLanes) {
    const auto v0 = hn::Load(d, vectors);
    const auto v1 = hn::Load(d, vectors + kNormLanes);
    const auto v2 = hn::Load(d, vectors + 2 * kNormLanes);
    const auto v3 = hn::Load(d, vectors + 3 * kNormLanes);
    const auto low =
        hn::BitCast(pairs, hn::Add(hn::InterleaveLower(d, v0, v1), hn::InterleaveUpper(d, v0, v1)));
    const auto high =
        hn::BitCast(pairs, hn::Add(hn::InterleaveLower(d, v2, v3), hn::InterleaveUpper(d, v2, v3)));
    // Each block of 128 bits has what its part of the four vectors sums up to.
    HWY_ALIGN float blocks[kNormLanes];
    hn::Store(hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, low, high)),
                      hn::BitCast(d, hn::InterleaveUpper(pairs, low, high))),
              d, blocks);
    auto sum = hn::Load(quad, blocks);
    for (size_t b = 4; b < kNormLanes; b += 4) sum = hn::Add(sum, hn::Load(quad, blocks + b));
    hn::Store(sum, quad, sums + r);
  }
#endif
}

/// Adds f(two vectors of a row) to two sums, which take the lanes in any order.
template <class F>
HWY_INLINE void add_two(const float* row, const F& f, NormVector* sums) {
  const NormTag d;
  sums[0] = hn::Add(sums[0], f(hn::LoadU(d, row)));
  sums[1] = hn::Add(sums[1], f(hn::LoadU(d, row + kNormLanes)));
}
template <class F>
HWY_INLINE void add_two(const uint16_t* row, const F& f, NormVector* sums) {
  const NormTag d;
#if HWY_TARGET == HWY_SCALAR
  sums[0] = hn::Add(sums[0], f(load_channels(d, row)));
  sums[1] = hn::Add(sums[1], f(load_channels(d, row + kNormLanes)));
#else
  // Every other one stands in the upper half of a float already.
  const hn::RebindToUnsigned<NormTag> bits;
  const auto both = hn::BitCast(bits, hn::LoadU(hn::Repartition<uint16_t, NormTag>(), row));
  sums[0] = hn::Add(sums[0], f(hn::BitCast(d, hn::ShiftLeft<16>(both))));
  sums[1] = hn::Add(sums[1], f(hn::BitCast(d, hn::And(both, hn::Set(bits, 0xFFFF0000u)))));
#endif
}

/// Sum of f(values of a row). Four independent chains hide the latency of the addition.
template <class T, class F>
HWY_INLINE NormVector sum_of_row(const T* row, size_t length, const F& f) {
  const NormTag d;
  NormVector sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  size_t i = 0;
  for (; i + 4 * kNormLanes <= length; i += 4 * kNormLanes) {
    add_two(row + i, f, sums);
    add_two(row + i + 2 * kNormLanes, f, sums + 2);
  }
  if (i + 2 * kNormLanes <= length) {
    add_two(row + i, f, sums);
    i += 2 * kNormLanes;
  }
  if (i + kNormLanes <= length) {
    sums[2] = hn::Add(sums[2], f(load_channels(d, row + i)));
    i += kNormLanes;
  }
  if (i < length) {
    const NormVector rest = f(load_first_channels(d, row + i, static_cast<int64_t>(length - i)));
    sums[3] = hn::Add(sums[3], hn::IfThenElseZero(hn::FirstN(d, length - i), rest));
  }
  return hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
}

template <bool kScaled, bool kShifted>
HWY_INLINE NormVector normal_of(NormVector value, NormVector mean, NormVector factor,
                                NormVector scale, NormVector shift) {
  NormVector normal = hn::Mul(hn::Sub(value, mean), factor);
  if constexpr (kScaled && kShifted) return hn::MulAdd(normal, scale, shift);
  if constexpr (kScaled) normal = hn::Mul(normal, scale);
  if constexpr (kShifted) normal = hn::Add(normal, shift);
  return normal;
}

template <bool kNative, bool kScaled, bool kShifted, class From, class To>
HWY_INLINE void normalise_row_by(const RowNorm& norm, const From* src, float mean, float factor,
                                 To* dst) {
  const NormTag d;
  const NormVector mean_v = hn::Set(d, mean);
  const NormVector factor_v = hn::Set(d, factor);
  const NormVector none = hn::Zero(d);
  size_t i = 0;
  for (; i + kNormLanes <= norm.length; i += kNormLanes) {
    const NormVector scale = kScaled ? hn::LoadU(d, norm.scale + i) : none;
    const NormVector shift = kShifted ? hn::LoadU(d, norm.shift + i) : none;
    const NormVector value = load_channels(d, src + i);
    store_channels_by<kNative>(
        d, normal_of<kScaled, kShifted>(value, mean_v, factor_v, scale, shift), dst + i);
  }
  if (i == norm.length) return;
  const auto rest = static_cast<int64_t>(norm.length - i);
  const NormVector scale = kScaled ? load_first_channels(d, norm.scale + i, rest) : none;
  const NormVector shift = kShifted ? load_first_channels(d, norm.shift + i, rest) : none;
  const NormVector value = load_first_channels(d, src + i, rest);
  store_first_channels(d, normal_of<kScaled, kShifted>(value, mean_v, factor_v, scale, shift),
                       dst + i, rest);
}

/// What each of up to kNormRows rows is normalised by.
template <class T>
HWY_INLINE void find_normalisers(const RowNorm& norm, size_t rows, const T* src, float* means,
                                 float* factors) {
  const NormTag d;
  const size_t length = norm.length;
  const NormVector count = hn::Set(d, static_cast<float>(length));
  HWY_ALIGN float partial[kNormRows * kNormLanes];
  std::fill(partial + rows * kNormLanes, partial + kNormRows * kNormLanes, 0.0f);
  std::fill_n(means, kNormRows, 0.0f);
  if (norm.centred) {
    for (size_t r = 0; r < rows; ++r) {
      const auto sum = sum_of_row(src + r * length, length, [](NormVector v) { return v; });
      hn::Store(sum, d, partial + r * kNormLanes);
    }
    sum_each(partial, means);
    for (size_t r = 0; r < kNormRows; r += kNormLanes) {
      hn::Store(hn::Div(hn::Load(d, means + r), count), d, means + r);
    }
  }
  for (size_t r = 0; r < rows; ++r) {
    const NormVector mean = hn::Set(d, means[r]);
    const auto sum = sum_of_row(src + r * length, length, [mean](NormVector v) {
      const NormVector away = hn::Sub(v, mean);
      return hn::Mul(away, away);
    });
    hn::Store(sum, d, partial + r * kNormLanes);
  }
  sum_each(partial, factors);
  bool finite = true;
  for (size_t r = 0; r < kNormRows; r += kNormLanes) {
    const NormVector variance = hn::Div(hn::Load(d, factors + r), count);
    const auto infinite = hn::Set(d, std::numeric_limits<float>::infinity());
    finite = finite && hn::AllTrue(d, hn::Lt(variance, infinite));
    const NormVector root = hn::Sqrt(hn::Add(variance, hn::Set(d, norm.epsilon)));
    hn::Store(hn::Div(hn::Set(d, 1.0f), root), d, factors + r);
  }
  if (finite) return;
  using Value = std::conditional_t<sizeof(T) == 2, BFloat16, float>;
  for (size_t r = 0; r < rows; ++r) {
    // Of an infinite variance; NaN is none of these either.
    if (factors[r] > 0.0f) continue;
    const auto* row = reinterpret_cast<const Value*>(src + r * length);
    const Normaliser by =
        wide_normaliser([row](size_t i) { return row[i]; }, length, norm.epsilon, norm.centred);
    means[r] = by.mean;
    factors[r] = by.factor;
  }
}

template <bool kNative, class From, class To>
void normalise_typed_rows(const RowNorm& norm, size_t rows, const From* src, To* dst) {
  HWY_ALIGN float means[kNormRows];
  HWY_ALIGN float factors[kNormRows];
  // Rows are read three times; few enough of them that they stay in the nearest cache.
  const size_t fit = std::max<size_t>(16384 / (norm.length * sizeof(From)), 1);
  const size_t most = std::min(fit, kNormRows);
  for (size_t first = 0; first < rows; first += most) {
    const size_t some = std::min(most, rows - first);
    const From* const from = src + first * norm.length;
    find_normalisers(norm, some, from, means, factors);
    for (size_t r = 0; r < some; ++r) {
      const From* const row = from + r * norm.length;
      To* const to = dst + (first + r) * norm.length;
      if (norm.scale == nullptr && norm.shift == nullptr) {
        normalise_row_by<kNative, false, false>(norm, row, means[r], factors[r], to);
      } else if (norm.shift == nullptr) {
        normalise_row_by<kNative, true, false>(norm, row, means[r], factors[r], to);
      } else if (norm.scale == nullptr) {
        normalise_row_by<kNative, false, true>(norm, row, means[r], factors[r], to);
      } else {
        normalise_row_by<kNative, true, true>(norm, row, means[r], factors[r], to);
      }
    }
  }
}

template <class From>
void normalise_rows_from(const RowNorm& norm, size_t rows, const From* src, ElementType to,
                         std::byte* dst) {
  if (to == ElementType::Float32) {
    return normalise_typed_rows<false>(norm, rows, src, reinterpret_cast<float*>(dst));
  }
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if (has_bfloat16_instructions()) {
    return normalise_typed_rows<true>(norm, rows, src, reinterpret_cast<uint16_t*>(dst));
  }
#endif
  normalise_typed_rows<false>(norm, rows, src, reinterpret_cast<uint16_t*>(dst));
}

void normalise_any_rows(const RowNorm& norm, size_t rows, ElementType from, const std::byte* src,
                        ElementType to, std::byte* dst) {
  if (from == ElementType::BFloat16) {
    normalise_rows_from(norm, rows, reinterpret_cast<const uint16_t*>(src), to, dst);
  } else {
    normalise_rows_from(norm, rows, reinterpret_cast<const float*>(src), to, dst);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(normalise_any_rows);

void normalise_rows(const RowNorm& norm, size_t rows, ElementType from, const std::byte* src,
                    ElementType to, std::byte* dst) {
  HWY_DYNAMIC_DISPATCH(normalise_any_rows)(norm, rows, from, src, to, dst);
}

}  // namespace het::cpu
#endif
