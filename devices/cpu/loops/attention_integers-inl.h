// Products of bytes in attention, and weights that are rounded to bytes. Included by the loops of
// attention after hwy/foreach_target.h, once per instruction set.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "devices/cpu/loops/attention_packing-inl.h"
#include "devices/cpu/loops/attention_tiles-inl.h"
#include "devices/cpu/loops/byte_dots-inl.h"

#if defined(HET_ATTENTION_INTEGERS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HET_ATTENTION_INTEGERS_INL_H
#undef HET_ATTENTION_INTEGERS_INL_H
#else
#define HET_ATTENTION_INTEGERS_INL_H
#endif

// Device CPU computes in int8 on such processors only.
#undef HET_ATTENTION_INTEGERS
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
#define HET_ATTENTION_INTEGERS
#endif

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#ifdef HET_ATTENTION_INTEGERS

/// Four unsigned bytes by four signed ones.
template <ByteDot kDot>
struct DotOfQuads {
  static HWY_INLINE SumVector add(SumVector left, SumVector panel, SumVector sums) {
    return add_quads<kDot>(left, panel, sums);
  }
};

/// Two 16-bit numbers by two.
struct DotOfPairs {
  static HWY_INLINE SumVector add(SumVector left, SumVector panel, SumVector sums) {
    const SumTag d;
    const WideTag wide;
    auto unused = hn::Zero(d);
    return hn::ReorderWidenMulAccumulate(d, hn::BitCast(wide, left), hn::BitCast(wide, panel), sums,
                                         unused);
  }
};

/// As multiply_floats(); sums are integers in the same places.
template <class Dot, int kUsed, int kVectors>
void multiply_integers(const AttentionTile& tile) {
  const SumTag d;
  SumVector sums[kUsed][kVectors];
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
#pragma GCC unroll 2
    for (int k = 0; k < kVectors; ++k) sums[r][k] = hn::Zero(d);
  }
  const std::byte* left = tile.left;
  const auto* panel = reinterpret_cast<const int32_t*>(tile.panel);
  for (int64_t i = 0; i < tile.words; ++i) {
    SumVector w[kVectors];
#pragma GCC unroll 2
    for (int k = 0; k < kVectors; ++k) w[k] = hn::Load(d, panel + k * kAttentionLanes);
    panel += kAttentionPanel;
#pragma GCC unroll 14
    for (int r = 0; r < kUsed; ++r) {
      int32_t word;
      std::memcpy(&word, left + r * tile.left_row, sizeof(word));
      const SumVector x = hn::Set(d, word);
#pragma GCC unroll 2
      for (int k = 0; k < kVectors; ++k) sums[r][k] = Dot::add(x, w[k], sums[r][k]);
    }
    left += sizeof(int32_t);
  }
  auto* const to = reinterpret_cast<int32_t*>(tile.sums);
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
#pragma GCC unroll 2
    for (int k = 0; k < kVectors; ++k) {
      hn::StoreU(sums[r][k], d, to + r * tile.sums_row + k * kAttentionLanes);
    }
  }
}

template <class Dot, int kMost, int kVectors>
HWY_INLINE void multiply_integer_rows(int64_t rows, const AttentionTile& tile) {
  if constexpr (kMost > 1) {
    if (rows < kMost) return multiply_integer_rows<Dot, kMost - 1, kVectors>(rows, tile);
  }
  multiply_integers<Dot, kMost, kVectors>(tile);
}

template <class Dot>
void multiply_integer_tile(int64_t rows, int64_t columns, const AttentionTile& tile) {
  if (columns > kAttentionLanes) return multiply_integer_rows<Dot, kAttentionRows, 2>(rows, tile);
  multiply_integer_rows<Dot, kAttentionRows, 1>(rows, tile);
}

/// Rows of bytes (Int8), or of 16-bit numbers, times a panel.
void multiply_integer_panel(int64_t rows, int64_t columns, ElementType product, bool emulates_quads,
                            const AttentionTile& tile) {
  if (product == ElementType::Int16) {
    return multiply_integer_tile<DotOfPairs>(rows, columns, tile);
  }
  if (emulates_quads) {
    return multiply_integer_tile<DotOfQuads<ByteDot::EmulatedQuads>>(rows, columns, tile);
  }
  multiply_integer_tile<DotOfQuads<ByteDot::Quads>>(rows, columns, tile);
}

/// Sums of a packed matrix's columns: those of a row of ones with it.
void sum_byte_columns(int64_t words, int64_t columns, bool emulates_quads, const std::byte* packed,
                      int32_t* sums) {
  for (int64_t first = 0; first < columns; first += kAttentionPanel) {
    const SumTag d;
    SumVector low = hn::Zero(d), high = hn::Zero(d);
    const auto x = hn::Set(d, 0x01010101);
    for (int64_t i = 0; i < words; ++i, packed += kAttentionPanel * 4) {
      const auto* word = reinterpret_cast<const int32_t*>(packed);
      const auto a = hn::Load(d, word), b = hn::Load(d, word + kAttentionLanes);
      if (emulates_quads) {
        low = add_quads<ByteDot::EmulatedQuads>(x, a, low);
        high = add_quads<ByteDot::EmulatedQuads>(x, b, high);
      } else {
        low = add_quads<ByteDot::Quads>(x, a, low);
        high = add_quads<ByteDot::Quads>(x, b, high);
      }
    }
    hn::Store(low, d, sums + first);
    hn::Store(high, d, sums + first + kAttentionLanes);
  }
}

/// What zero points add to sums of products of bytes: sum of (a - a_zero) * (b - b_zero) is the sum
/// of a * b, less a_zero times the sum of b's column, and a constant of the row.
struct ZeroPoints {
  int32_t left = 0, right = 0;  ///< of the bytes as they are multiplied
  int64_t depth = 0;
  const int32_t* columns = nullptr;  ///< sums; needed where `left` is not 0

  int32_t of_row(int32_t row_sum) const {
    return static_cast<int32_t>(depth * left * right - int64_t{right} * row_sum);
  }
};

/// Integers become floats in the same places, whole vectors of them.
HWY_INLINE void finish_integers(const ZeroPoints& zeros, int32_t of_row, int64_t first,
                                int64_t count, float* values) {
  const SumTag d;
  const AttentionTag floats;
  const auto row = hn::Set(d, of_row);
  const auto left = hn::Set(d, zeros.left);
  auto* const sums = reinterpret_cast<int32_t*>(values);
  for (int64_t i = 0; i < count; i += kAttentionLanes) {
    auto sum = hn::Add(hn::LoadU(d, sums + i), row);
    if (zeros.left != 0) {
      sum = hn::Sub(sum, hn::Mul(left, hn::LoadU(d, zeros.columns + first + i)));
    }
    hn::StoreU(hn::ConvertTo(floats, sum), floats, values + i);
  }
}

HWY_INLINE int32_t sum_of_bytes(const std::byte* row, int64_t count) {
  int32_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += std::to_integer<int32_t>(row[i]);
  return sum;
}

#endif

/// Weights of one row as what they are rounded to, in the same place: bytes, or their distances
/// from the zero point as 16-bit numbers, floats or bfloat16. `factor` is what exponentials are
/// multiplied by. What is not finite becomes 0, as QuantizeLinear stores it.
template <class To>
HWY_INLINE void round_weights(const AttentionShape& shape, float factor, float* weights) {
  const AttentionTag d;
  const hn::RebindToSigned<AttentionTag> whole;
  const auto zero = static_cast<float>(shape.weights_zero);
  const bool is_number = std::isfinite(factor);
  const auto inverse = hn::Set(d, is_number ? factor / shape.weights_scale : 0.0f);
  const auto low = hn::Set(d, 0.0f), high = hn::Set(d, 255.0f), shift = hn::Set(d, zero);
  auto* const to = reinterpret_cast<To*>(weights);
  for (int64_t i = 0; i < shape.keys; i += kAttentionLanes) {
    auto weight = hn::Load(d, weights + i);
    if (!is_number) weight = hn::Zero(d);
    // Half to even before the zero point is added, as QuantizeLinear has it.
    const auto byte =
        hn::Min(hn::Max(hn::Add(hn::Round(hn::Mul(weight, inverse)), shift), low), high);
    if constexpr (std::is_same_v<To, uint8_t>) {
      hn::StoreU(hn::DemoteTo(hn::Rebind<uint8_t, AttentionTag>(), hn::ConvertTo(whole, byte)),
                 hn::Rebind<uint8_t, AttentionTag>(), to + i);
    } else if constexpr (std::is_same_v<To, int16_t>) {
      hn::StoreU(hn::DemoteTo(hn::Rebind<int16_t, AttentionTag>(),
                              hn::ConvertTo(whole, hn::Sub(byte, shift))),
                 hn::Rebind<int16_t, AttentionTag>(), to + i);
    } else {
      store_values(hn::Sub(byte, shift), to + i);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#endif  // HET_ATTENTION_INTEGERS_INL_H
