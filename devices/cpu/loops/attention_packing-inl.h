// Matrices of attention, packed as panels of columns. Included by the loops of attention after
// hwy/foreach_target.h, once per instruction set.
#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include <hwy/highway.h>

#include "devices/cpu/loops/attention_loops.h"
#include "devices/cpu/loops/bfloat16-inl.h"
#include "devices/cpu/loops/turned_rows-inl.h"

#if defined(HET_ATTENTION_PACKING_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HET_ATTENTION_PACKING_INL_H
#undef HET_ATTENTION_PACKING_INL_H
#else
#define HET_ATTENTION_PACKING_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Vectors of up to 16 floats; a panel has two of them.
using AttentionTag = hn::CappedTag<float, 16>;
using AttentionBits = hn::RebindToUnsigned<AttentionTag>;
using AttentionHalf = hn::Rebind<uint16_t, AttentionTag>;
using AttentionVector = hn::Vec<AttentionTag>;
constexpr int kAttentionLanes = static_cast<int>(hn::MaxLanes(AttentionTag()));
constexpr int kAttentionPanel = 2 * kAttentionLanes;
/// A block's sums, two vectors of a panel and one of the left side fill the registers.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int kAttentionRows = 14;
#elif HWY_TARGET == HWY_AVX2
constexpr int kAttentionRows = 6;
#else
constexpr int kAttentionRows = 4;
#endif

HWY_INLINE AttentionVector load_values(const float* from) {
  return hn::LoadU(AttentionTag(), from);
}

HWY_INLINE AttentionVector load_values(const BFloat16* from) {
  return load_bfloat16(AttentionTag(), reinterpret_cast<const uint16_t*>(from));
}

HWY_INLINE void store_values(AttentionVector value, float* to) {
  hn::StoreU(value, AttentionTag(), to);
}

HWY_INLINE void store_values(AttentionVector value, BFloat16* to) {
  hn::StoreU(to_bfloat16(AttentionTag(), value), AttentionHalf(), reinterpret_cast<uint16_t*>(to));
}

/// The bits of values as bfloat16, in the lower halves.
HWY_INLINE hn::Vec<AttentionBits> load_bits(const float* from) {
  return hn::ShiftRight<16>(round_to_upper(AttentionTag(), load_values(from)));
}

HWY_INLINE hn::Vec<AttentionBits> load_bits(const BFloat16* from) {
  return hn::PromoteTo(AttentionBits(),
                       hn::LoadU(AttentionHalf(), reinterpret_cast<const uint16_t*>(from)));
}

/// Values of a word of four bytes, which is what is broadcast and what a lane of a panel has.
template <class T>
constexpr int64_t kInWord = static_cast<int64_t>(sizeof(float) / sizeof(T));

/// Bytes become those of the other sign by 128 more or less, or 16-bit numbers less `zero`.
template <class To, class From>
HWY_INLINE To converted(From value, int32_t zero) {
  if constexpr (std::is_same_v<To, int16_t>) {
    return static_cast<To>(value - zero);
  } else if constexpr (std::is_integral_v<To>) {
    constexpr int kTurned = std::is_same_v<To, From> ? 0 : 128;
    return static_cast<To>(static_cast<int>(value) ^ kTurned);
  } else {
    return To(static_cast<float>(value));
  }
}

template <class To, class From>
void convert_row(const From* from, int64_t count, int32_t zero, To* to) {
  int64_t i = 0;
  if constexpr (!std::is_integral_v<To>) {
    for (; i + kAttentionLanes <= count; i += kAttentionLanes) {
      store_values(load_values(from + i), to + i);
    }
  }
  for (; i < count; ++i) to[i] = converted<To>(from[i], zero);
}

/// `count` values `step` apart, and zeros behind them that fill up a word.
template <class To, class From>
void take_row(const From* from, int64_t step, int64_t count, int32_t zero, To* to) {
  if (step == 1) {
    convert_row(from, count, zero, to);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = converted<To>(from[i * step], zero);
  }
  while (count % kInWord<To> != 0) to[count++] = To(0);
}

/// A matrix [k, n] to be packed.
template <class T>
struct Packed {
  const T* from;
  int64_t row, column;
  int64_t k, n;
  int32_t zero;  ///< that 16-bit numbers are less
};

/// Depths of more than this are turned in parts.
constexpr int64_t kTurnedDepth = 256;

/// Panels of a matrix whose columns do not lie side by side, moved as words of as many rows as the
/// type has values in one.
template <class To, class From>
void turn_panels(const Packed<From>& matrix, float* packed) {
  constexpr int64_t kWord = kInWord<To>;
  alignas(64) std::array<std::array<To, kTurnedDepth + kWord>, 4> copies;
  alignas(64) static constexpr std::array<float, kTurnedDepth> kNothing = {};
  const int64_t words = (matrix.k + kWord - 1) / kWord;
  for (int64_t first = 0; first < matrix.n; first += kAttentionPanel) {
    for (int64_t begin = 0; begin < matrix.k; begin += kTurnedDepth) {
      const int64_t depth = std::min(kTurnedDepth, matrix.k - begin);
      const bool in_place = std::is_same_v<To, From> && matrix.row == 1 && depth % kWord == 0;
      for (int64_t c = 0; c < kAttentionPanel; c += 4) {
        std::array<const float*, 4> rows;
        for (int64_t r = 0; r < 4; ++r) {
          const auto i = static_cast<size_t>(r);
          rows[i] = kNothing.data();
          if (first + c + r >= matrix.n) continue;
          const From* const from =
              matrix.from + (first + c + r) * matrix.column + begin * matrix.row;
          if (in_place) {
            rows[i] = reinterpret_cast<const float*>(from);
          } else {
            take_row(from, matrix.row, depth, matrix.zero, copies[i].data());
            rows[i] = reinterpret_cast<const float*>(copies[i].data());
          }
        }
        turn_four_rows(rows, (depth + kWord - 1) / kWord, kAttentionPanel,
                       packed + begin / kWord * kAttentionPanel + c);
      }
    }
    packed += words * kAttentionPanel;
  }
}

/// Panels of a matrix whose columns lie side by side, for products in float32.
template <class From>
void copy_panels(const Packed<From>& matrix, float* packed) {
  for (int64_t first = 0; first < matrix.n; first += kAttentionPanel) {
    const int64_t columns = std::min<int64_t>(kAttentionPanel, matrix.n - first);
    for (int64_t i = 0; i < matrix.k; ++i, packed += kAttentionPanel) {
      convert_row(matrix.from + i * matrix.row + first, columns, 0, packed);
      std::fill(packed + columns, packed + kAttentionPanel, 0.0f);
    }
  }
}

/// The same for products of pairs: two rows are interleaved.
template <class From>
void pair_panels(const Packed<From>& matrix, uint32_t* packed) {
  const AttentionBits bits;
  alignas(64) std::array<From, kAttentionLanes> low_rest{}, high_rest{};
  alignas(64) const std::array<From, kAttentionLanes> nothing{};
  for (int64_t first = 0; first < matrix.n; first += kAttentionPanel) {
    const int64_t columns = std::min<int64_t>(kAttentionPanel, matrix.n - first);
    for (int64_t i = 0; i < matrix.k; i += 2) {
      const From* const row = matrix.from + i * matrix.row + first;
      const bool has_second = i + 1 < matrix.k;
      for (int64_t c = 0; c < kAttentionPanel; c += kAttentionLanes, packed += kAttentionLanes) {
        const From* low = row + c;
        const From* high = has_second ? row + matrix.row + c : nothing.data();
        if (columns < c + kAttentionLanes) {
          // Lanes behind the last column stay zero.
          const int64_t used = std::max<int64_t>(columns - c, 0);
          low_rest = high_rest = nothing;
          std::copy_n(low, used, low_rest.data());
          std::copy_n(high, used, high_rest.data());
          low = low_rest.data();
          high = high_rest.data();
        }
        hn::StoreU(hn::Or(load_bits(low), hn::ShiftLeft<16>(load_bits(high))), bits, packed);
      }
    }
  }
}

/// The same for products of bytes, or of 16-bit numbers made of them.
template <class To, class From>
void interleave_panels(const Packed<From>& matrix, To* packed) {
  using Row = std::array<From, kAttentionPanel>;
  constexpr int64_t kWord = kInWord<To>;
  // What becomes 0.
  Row nothing;
  nothing.fill(std::is_same_v<To, int16_t> ? static_cast<From>(matrix.zero)
                                           : static_cast<From>(converted<To>(From(0), 0)));
  alignas(64) std::array<Row, kWord> copies;
  for (int64_t first = 0; first < matrix.n; first += kAttentionPanel) {
    const int64_t columns = std::min<int64_t>(kAttentionPanel, matrix.n - first);
    for (int64_t i = 0; i < matrix.k; i += kWord, packed += kAttentionPanel * kWord) {
      std::array<const From*, kWord> rows;
      for (int64_t r = 0; r < kWord; ++r) {
        const auto at = static_cast<size_t>(r);
        rows[at] = nothing.data();
        if (i + r >= matrix.k) continue;
        rows[at] = matrix.from + (i + r) * matrix.row + first;
        if (columns == kAttentionPanel) continue;
        copies[at] = nothing;
        std::copy_n(rows[at], columns, copies[at].data());
        rows[at] = copies[at].data();
      }
      for (int64_t c = 0; c < kAttentionPanel; ++c) {
#pragma GCC unroll 4
        for (int64_t r = 0; r < kWord; ++r) {
          packed[c * kWord + r] = converted<To>(rows[static_cast<size_t>(r)][c], matrix.zero);
        }
      }
    }
  }
}

template <class To, class From>
void pack_integers(const Packed<From>& matrix, int64_t column, std::byte* packed) {
  if (column == 1) return interleave_panels(matrix, reinterpret_cast<To*>(packed));
  turn_panels<To>(matrix, reinterpret_cast<float*>(packed));
}

template <class From>
void pack_bytes(const AttentionMatrix& matrix, int64_t k, int64_t n, ElementType product,
                std::byte* packed) {
  const Packed<From> from{
      reinterpret_cast<const From*>(matrix.first), matrix.row, matrix.column, k, n, matrix.zero};
  if (product == ElementType::Int16) return pack_integers<int16_t>(from, matrix.column, packed);
  pack_integers<int8_t>(from, matrix.column, packed);
}

template <class From>
void pack_typed(const AttentionMatrix& matrix, int64_t k, int64_t n, ElementType product,
                std::byte* packed) {
  const Packed<From> from{
      reinterpret_cast<const From*>(matrix.first), matrix.row, matrix.column, k, n, 0};
  auto* const to = reinterpret_cast<float*>(packed);
  if (product == ElementType::BFloat16) {
    if (matrix.column == 1) return pair_panels(from, reinterpret_cast<uint32_t*>(packed));
    return turn_panels<BFloat16>(from, to);
  }
  if (matrix.column == 1) return copy_panels(from, to);
  turn_panels<float>(from, to);
}

void pack_panels_of(const AttentionMatrix& matrix, int64_t k, int64_t n, ElementType product,
                    std::byte* packed) {
  switch (matrix.type) {
    case ElementType::UInt8:
      return pack_bytes<uint8_t>(matrix, k, n, product, packed);
    case ElementType::Int8:
      return pack_bytes<int8_t>(matrix, k, n, product, packed);
    case ElementType::BFloat16:
      return pack_typed<BFloat16>(matrix, k, n, product, packed);
    default:
      return pack_typed<float>(matrix, k, n, product, packed);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#endif  // HET_ATTENTION_PACKING_INL_H
