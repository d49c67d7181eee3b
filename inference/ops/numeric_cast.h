#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "inference/tensors/element_type.h"

namespace het {

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// The type in which scalar arithmetic on T happens: float for the half types, else T.
template <class T>
using ArithmeticType = std::conditional_t<kIsHalf<T>, float, T>;

namespace numeric_cast_internal {

/// Nearest float, inexact results with an odd last bit: rounding that to a half type once more
/// gives the same as rounding the double directly (Boldo, Melquiond: "When double rounding is
/// odd").
inline float round_to_odd(double value) {
  const auto rounded = static_cast<float>(value);
  if (!std::isfinite(rounded) || static_cast<double>(rounded) == value) return rounded;
  uint32_t bits = std::bit_cast<uint32_t>(rounded);
  if (std::fabs(static_cast<double>(rounded)) > std::fabs(value)) --bits;
  return std::bit_cast<float>(bits | 1u);
}

}  // namespace numeric_cast_internal

/// Conversion between whole-byte types as ONNX' Cast defines it, with what it leaves undefined
/// settled: a float outside the range of an integer type gives the nearest end of the range, NaN
/// gives 0. Floats are truncated towards zero, integers keep their low bits, everything but zero
/// is true, and what a float type cannot hold becomes infinite.
template <class To, class From>
To numeric_cast(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (kIsHalf<From>) {
    return numeric_cast<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (kIsHalf<To>) {
    if constexpr (std::is_same_v<From, double>) {
      return To(numeric_cast_internal::round_to_odd(value));
    } else {
      return To(static_cast<float>(value));
    }
  } else if constexpr (std::floating_point<From> && std::integral<To>) {
    // Both limits are powers of two (or zero), so they are exact in From.
    constexpr auto kLow = static_cast<From>(std::numeric_limits<To>::min());
    constexpr From kEnd =
        From(2) * static_cast<From>(uint64_t{1} << (std::numeric_limits<To>::digits - 1));
    if (std::isnan(value)) return To(0);
    if (value <= kLow) return std::numeric_limits<To>::min();
    if (value >= kEnd) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace het
