#include "devices/cpu/loops/transpose_loops.h"

#include <algorithm>
#include <type_traits>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/transpose_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/bfloat16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

/// Squares of so many values are transposed in registers.
constexpr int64_t kSquare = hn::MaxLanes(D());

HWY_INLINE V load_values(const float* src, bool) {
  return hn::LoadU(D(), src);
}
/// With `raw` the bits stand in the lower half, whatever number they are there.
HWY_INLINE V load_values(const BFloat16* src, bool raw) {
  const D d;
  const auto* bits = reinterpret_cast<const uint16_t*>(src);
  if (!raw) return load_bfloat16(d, bits);
  const hn::Rebind<uint16_t, D> half;
  return hn::BitCast(d, hn::PromoteTo(hn::RebindToUnsigned<D>(), hn::LoadU(half, bits)));
}

HWY_INLINE void store_values(V value, float* dst, bool) {
  hn::StoreU(value, D(), dst);
}
HWY_INLINE void store_values(V value, BFloat16* dst, bool raw) {
  const D d;
  const hn::Rebind<uint16_t, D> half;
  auto* to = reinterpret_cast<uint16_t*>(dst);
  if (raw) {
    hn::StoreU(hn::DemoteTo(half, hn::BitCast(hn::RebindToSigned<D>(), value)), half, to);
  } else {
    hn::StoreU(to_bfloat16(d, value), half, to);
  }
}

#if HWY_TARGET != HWY_SCALAR
/// Four vectors: within each 128 bits, value j of vector i becomes value i of vector j.
HWY_INLINE void transpose_quads(V* v) {
  const D d;
  const hn::Repartition<double, D> pairs;
  const auto low = hn::BitCast(pairs, hn::InterleaveLower(d, v[0], v[1]));
  const auto high = hn::BitCast(pairs, hn::InterleaveUpper(d, v[0], v[1]));
  const auto other_low = hn::BitCast(pairs, hn::InterleaveLower(d, v[2], v[3]));
  const auto other_high = hn::BitCast(pairs, hn::InterleaveUpper(d, v[2], v[3]));
  v[0] = hn::BitCast(d, hn::InterleaveLower(pairs, low, other_low));
  v[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, low, other_low));
  v[2] = hn::BitCast(d, hn::InterleaveLower(pairs, high, other_high));
  v[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, high, other_high));
}
#endif

/// Rows of kSquare vectors -> columns.
HWY_INLINE void transpose_square([[maybe_unused]] V* v) {
#if HWY_TARGET != HWY_SCALAR
#pragma GCC unroll 4
  for (int64_t i = 0; i < kSquare; i += 4) transpose_quads(v + i);
#endif
    // Vector 4 k + j now has, in its block b of 128 bits, column 4 b + j of the rows from 4 k on.
#if HWY_TARGET <= HWY_AVX3
  const D d;
#pragma GCC unroll 4
  for (int64_t j = 0; j < 4; ++j) {
    const V low = hn::ConcatLowerLower(d, v[8 + j], v[j]);
    const V other_low = hn::ConcatLowerLower(d, v[12 + j], v[4 + j]);
    const V high = hn::ConcatUpperUpper(d, v[8 + j], v[j]);
    const V other_high = hn::ConcatUpperUpper(d, v[12 + j], v[4 + j]);
    v[j] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(other_low), low);
    v[4 + j] = hn::OddEvenBlocks(other_low, hn::SwapAdjacentBlocks(low));
    v[8 + j] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(other_high), high);
    v[12 + j] = hn::OddEvenBlocks(other_high, hn::SwapAdjacentBlocks(high));
  }
#elif HWY_TARGET == HWY_AVX2
  const D d;
#pragma GCC unroll 4
  for (int64_t j = 0; j < 4; ++j) {
    const V low = hn::ConcatLowerLower(d, v[4 + j], v[j]);
    v[4 + j] = hn::ConcatUpperUpper(d, v[4 + j], v[j]);
    v[j] = low;
  }
#endif
}

/// Beginnings of pieces of kSquare that cover `count` >= kSquare: the last one overlaps.
HWY_INLINE int64_t next_square(int64_t at, int64_t count) {
  return at + kSquare == count ? count : std::min(at + kSquare, count - kSquare);
}

template <class S, class T>
HWY_INLINE void transpose_matrix(MatrixRows<const S> src, MatrixRows<T> dst, int64_t rows,
                                 int64_t columns) {
  constexpr bool kRaw = sizeof(S) == 2 && sizeof(T) == 2;
  if (rows < kSquare || columns < kSquare) {
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t r = 0; r < rows; ++r) {
        const S value = src.values[r * src.stride + c];
        if constexpr (std::is_same_v<S, T>) {
          dst.values[c * dst.stride + r] = value;
        } else {
          dst.values[c * dst.stride + r] = T(static_cast<float>(value));
        }
      }
    }
    return;
  }
  for (int64_t c = 0; c < columns; c = next_square(c, columns)) {
    for (int64_t r = 0; r < rows; r = next_square(r, rows)) {
      const S* const from = src.values + r * src.stride + c;
      T* const to = dst.values + c * dst.stride + r;
      V v[kSquare];
#pragma GCC unroll 16
      for (int64_t i = 0; i < kSquare; ++i) v[i] = load_values(from + i * src.stride, kRaw);
      transpose_square(v);
#pragma GCC unroll 16
      for (int64_t i = 0; i < kSquare; ++i) store_values(v[i], to + i * dst.stride, kRaw);
    }
  }
}

/// Squares of so many bytes are transposed in registers, and whole cache lines of src at a time:
/// a few, unless the rows of dst would meet in the cache.
constexpr int64_t kByteSquare = 16;
constexpr int64_t kByteLine = 64;
constexpr int64_t kByteLines = 256;
constexpr int64_t kMeetingBytes = 4096;

#if HWY_TARGET != HWY_SCALAR
HWY_INLINE void transpose_byte_square(const uint8_t* from, int64_t from_stride, uint8_t* to,
                                      int64_t to_stride) {
  const hn::FixedTag<uint8_t, kByteSquare> d;
  hn::Vec<hn::FixedTag<uint8_t, kByteSquare>> v[kByteSquare], shuffled[kByteSquare];
#pragma GCC unroll 16
  for (int64_t i = 0; i < kByteSquare; ++i) v[i] = hn::LoadU(d, from + i * from_stride);
    // Each round takes one bit of the place in a vector to the number of the vector.
#pragma GCC unroll 4
  for (int round = 0; round < 4; ++round) {
#pragma GCC unroll 8
    for (int64_t i = 0; i < kByteSquare / 2; ++i) {
      shuffled[2 * i] = hn::InterleaveLower(d, v[i], v[i + kByteSquare / 2]);
      shuffled[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + kByteSquare / 2]);
    }
#pragma GCC unroll 16
    for (int64_t i = 0; i < kByteSquare; ++i) v[i] = shuffled[i];
  }
#pragma GCC unroll 16
  for (int64_t i = 0; i < kByteSquare; ++i) hn::StoreU(v[i], d, to + i * to_stride);
}
#else
HWY_INLINE void transpose_byte_square(const uint8_t* from, int64_t from_stride, uint8_t* to,
                                      int64_t to_stride) {
  for (int64_t r = 0; r < kByteSquare; ++r) {
    for (int64_t c = 0; c < kByteSquare; ++c) to[c * to_stride + r] = from[r * from_stride + c];
  }
}
#endif

/// As next_square().
HWY_INLINE int64_t next_byte_square(int64_t at, int64_t count) {
  return at + kByteSquare == count ? count : std::min(at + kByteSquare, count - kByteSquare);
}

HWY_INLINE void transpose_bytes(MatrixRows<const uint8_t> src, MatrixRows<uint8_t> dst,
                                int64_t rows, int64_t columns) {
  if (rows < kByteSquare || columns < kByteSquare) {
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t r = 0; r < rows; ++r) {
        dst.values[c * dst.stride + r] = src.values[r * src.stride + c];
      }
    }
    return;
  }
  const int64_t step = dst.stride % kMeetingBytes == 0 ? kByteLine : kByteLines;
  for (int64_t first = 0; first < columns; first += step) {
    // What is too short for a square begins earlier.
    const int64_t end = std::min(first + step, columns);
    const int64_t begin = std::min(first, end - kByteSquare);
    for (int64_t r = 0; r < rows; r = next_byte_square(r, rows)) {
      for (int64_t c = begin; c < end; c = begin + next_byte_square(c - begin, end - begin)) {
        transpose_byte_square(src.values + r * src.stride + c, src.stride,
                              dst.values + c * dst.stride + r, dst.stride);
      }
    }
  }
}

void floats(MatrixRows<const float> src, MatrixRows<float> dst, int64_t rows, int64_t columns) {
  transpose_matrix(src, dst, rows, columns);
}
void narrowed(MatrixRows<const float> src, MatrixRows<BFloat16> dst, int64_t rows,
              int64_t columns) {
  transpose_matrix(src, dst, rows, columns);
}
void widened(MatrixRows<const BFloat16> src, MatrixRows<float> dst, int64_t rows, int64_t columns) {
  transpose_matrix(src, dst, rows, columns);
}
void halves(MatrixRows<const BFloat16> src, MatrixRows<BFloat16> dst, int64_t rows,
            int64_t columns) {
  transpose_matrix(src, dst, rows, columns);
}

void bytes(MatrixRows<const uint8_t> src, MatrixRows<uint8_t> dst, int64_t rows, int64_t columns) {
  transpose_bytes(src, dst, rows, columns);
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(floats);
HWY_EXPORT(narrowed);
HWY_EXPORT(widened);
HWY_EXPORT(halves);
HWY_EXPORT(bytes);

void transpose(MatrixRows<const float> src, MatrixRows<float> dst, int64_t rows, int64_t columns) {
  HWY_DYNAMIC_DISPATCH(floats)(src, dst, rows, columns);
}
void transpose(MatrixRows<const float> src, MatrixRows<BFloat16> dst, int64_t rows,
               int64_t columns) {
  HWY_DYNAMIC_DISPATCH(narrowed)(src, dst, rows, columns);
}
void transpose(MatrixRows<const BFloat16> src, MatrixRows<float> dst, int64_t rows,
               int64_t columns) {
  HWY_DYNAMIC_DISPATCH(widened)(src, dst, rows, columns);
}
void transpose(MatrixRows<const BFloat16> src, MatrixRows<BFloat16> dst, int64_t rows,
               int64_t columns) {
  HWY_DYNAMIC_DISPATCH(halves)(src, dst, rows, columns);
}
void transpose(MatrixRows<const uint8_t> src, MatrixRows<uint8_t> dst, int64_t rows,
               int64_t columns) {
  HWY_DYNAMIC_DISPATCH(bytes)(src, dst, rows, columns);
}

}  // namespace het::cpu
#endif
