#include "devices/cpu/loops/column_loops.h"

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/column_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/channel_values-inl.h"
#include "devices/cpu/loops/extremes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
/// Blocks of 8 and 16 channels are common: a vector has no more.
using ColumnTag = hn::CappedTag<float, 16>;
using ColumnVector = hn::Vec<ColumnTag>;
constexpr int64_t kColumnLanes = static_cast<int64_t>(hn::MaxLanes(ColumnTag()));

/// What a kind makes of a value, and of two results.
template <Accumulation kKind>
struct ColumnFold {
  static HWY_INLINE ColumnVector of(ColumnVector value) {
    if constexpr (kKind == Accumulation::SumSquare) return hn::Mul(value, value);
    if constexpr (kKind == Accumulation::SumAbs) return hn::Abs(value);
    return value;
  }
  static HWY_INLINE ColumnVector join(ColumnVector a, ColumnVector b) {
    if constexpr (kKind == Accumulation::Max) return max_or_nan(a, b);
    if constexpr (kKind == Accumulation::Min) return min_or_nan(a, b);
    return hn::Add(a, b);
  }
};

/// kVectors vectors of columns in registers; the rows go to kChains sums in turn, which hide the
/// latency of an addition. `load` has the vector that begins at a value of src.
template <class Fold, int kVectors, int kChains, class T, class Load>
HWY_INLINE void reduce_block(const T* src, int64_t rows, int64_t stride, const Load& load,
                             ColumnVector* dst) {
  ColumnVector sums[kChains][kVectors];
  const int64_t begun = rows < kChains ? 1 : kChains;
#pragma GCC unroll 8
  for (int chain = 0; chain < kChains; ++chain) {
    const T* const row = src + (chain < begun ? chain : 0) * stride;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sums[chain][v] = Fold::of(load(row + v * kColumnLanes));
  }
  int64_t i = begun;
  for (; i + kChains <= rows; i += kChains) {
#pragma GCC unroll 8
    for (int chain = 0; chain < kChains; ++chain) {
      const T* const row = src + (i + chain) * stride;
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        sums[chain][v] = Fold::join(sums[chain][v], Fold::of(load(row + v * kColumnLanes)));
      }
    }
  }
  for (; i < rows; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      sums[0][v] = Fold::join(sums[0][v], Fold::of(load(src + i * stride + v * kColumnLanes)));
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    dst[v] = sums[0][v];
#pragma GCC unroll 8
    for (int chain = 1; begun > 1 && chain < kChains; ++chain) {
      dst[v] = Fold::join(dst[v], sums[chain][v]);
    }
  }
}

template <class Fold, int kVectors, int kChains, class T>
HWY_INLINE void reduce_vectors(const T* src, int64_t rows, int64_t stride, float* dst) {
  const ColumnTag d;
  ColumnVector results[kVectors];
  reduce_block<Fold, kVectors, kChains>(
      src, rows, stride, [d](const T* from) HWY_ATTR { return load_channels(d, from); }, results);
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) hn::StoreU(results[v], d, dst + v * kColumnLanes);
}

template <Accumulation kKind, class T>
void reduce_with(const T* src, int64_t rows, int64_t stride, int64_t count, float* dst) {
  using Fold = ColumnFold<kKind>;
  constexpr int kWide = 8;
  int64_t c = 0;
  for (; c + kWide * kColumnLanes <= count; c += kWide * kColumnLanes) {
    reduce_vectors<Fold, kWide, 1>(src + c, rows, stride, dst + c);
  }
  for (; c + kColumnLanes <= count; c += kColumnLanes) {
    reduce_vectors<Fold, 1, 4>(src + c, rows, stride, dst + c);
  }
  if (c == count) return;
  const ColumnTag d;
  ColumnVector result;
  const auto load = [d, rest = count - c](const T* from)
                        HWY_ATTR { return load_first_channels(d, from, rest); };
  reduce_block<Fold, 1, 4>(src + c, rows, stride, load, &result);
  store_first_channels(d, result, dst + c, count - c);
}

template <class T>
void reduce_typed(Accumulation kind, const T* src, int64_t rows, int64_t stride, int64_t count,
                  float* dst) {
  switch (kind) {
    case Accumulation::Sum:
      return reduce_with<Accumulation::Sum>(src, rows, stride, count, dst);
    case Accumulation::SumSquare:
      return reduce_with<Accumulation::SumSquare>(src, rows, stride, count, dst);
    case Accumulation::SumAbs:
      return reduce_with<Accumulation::SumAbs>(src, rows, stride, count, dst);
    case Accumulation::Max:
      return reduce_with<Accumulation::Max>(src, rows, stride, count, dst);
    case Accumulation::Min:
      return reduce_with<Accumulation::Min>(src, rows, stride, count, dst);
  }
}

void reduce_floats(Accumulation kind, const float* src, int64_t rows, int64_t stride, int64_t count,
                   float* dst) {
  reduce_typed(kind, src, rows, stride, count, dst);
}

void reduce_bfloat16(Accumulation kind, const BFloat16* src, int64_t rows, int64_t stride,
                     int64_t count, float* dst) {
  reduce_typed(kind, reinterpret_cast<const uint16_t*>(src), rows, stride, count, dst);
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(reduce_floats);
HWY_EXPORT(reduce_bfloat16);

void reduce_columns(Accumulation kind, const float* src, int64_t rows, int64_t stride,
                    int64_t count, float* dst) {
  HWY_DYNAMIC_DISPATCH(reduce_floats)(kind, src, rows, stride, count, dst);
}

void reduce_columns(Accumulation kind, const BFloat16* src, int64_t rows, int64_t stride,
                    int64_t count, float* dst) {
  HWY_DYNAMIC_DISPATCH(reduce_bfloat16)(kind, src, rows, stride, count, dst);
}

}  // namespace het::cpu
#endif
