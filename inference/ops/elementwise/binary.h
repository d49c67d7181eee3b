#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include "inference/model/attributes.h"
#include "inference/ops/elementwise/as_read.h"

namespace het {

/// Operators of two inputs that differ by one scalar expression; Max and Min also serve the
/// variadic operators of that name.
enum class BinaryKind {
  Add,
  Sub,
  Mul,
  Div,
  Pow,
  FloorMod,
  Fmod,
  PRelu,
  Max,
  Min,
  Equal,
  Greater,
  GreaterOrEqual,
  Less,
  LessOrEqual,
  And,
  Or,
  Xor,
  BitwiseAnd,
  BitwiseOr,
  BitwiseXor,
  ShiftLeft,
  ShiftRight,
};

/// The kind of an ONNX operator of domain "" with its attributes applied (Mod's fmod, BitShift's
/// direction), or nothing when it is not such an operator.
std::optional<BinaryKind> binary_kind(std::string_view op_type, const Attributes& attributes);

/// True for the kinds whose result is bool: comparisons and logic.
bool gives_bool(BinaryKind kind);

namespace binary_internal {

/// Integer arithmetic wraps around; computing in uint64_t keeps that defined for every T.
template <class T>
constexpr uint64_t bits(T value) {
  return static_cast<uint64_t>(value);
}

template <class T>
T divide(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(0 - bits(a));
  }
  return static_cast<T>(a / b);
}

template <class T>
T floor_mod(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1))) return 0;
    const auto rest = static_cast<T>(a % b);
    return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  } else {
    const T rest = std::fmod(a, b);
    if (rest == T(0)) return std::copysign(T(0), b);
    return (rest < T(0)) != (b < T(0)) ? rest + b : rest;  // NaN stays NaN
  }
}

template <class T>
T trunc_mod(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1))) return 0;
    return static_cast<T>(a % b);
  } else {
    return std::fmod(a, b);
  }
}

template <class T>
T shift(T x, T amount, bool left) {
  // Out of range shifts leave what sign extension leaves: all sign bits to the right, 0 to the
  // left.
  constexpr auto kBits = static_cast<int>(8 * sizeof(T));
  const bool inside = amount >= T(0) && bits(amount) < static_cast<uint64_t>(kBits);
  if (left) return inside ? static_cast<T>(bits(x) << bits(amount)) : T(0);
  if (inside) return static_cast<T>(x >> amount);
  return x < T(0) ? static_cast<T>(-1) : T(0);
}

}  // namespace binary_internal

/// Calls `visitor(f)` with a captureless function object `T f(T a, T b)` for the kinds Add to Min.
/// T is float, double or an integer type (Pow: float and double only; pow.h has the other types).
/// Integers wrap around; division and modulo by an integer zero give 0.
template <class T, class Visitor>
void visit_arithmetic(BinaryKind kind, Visitor&& visitor) {
  using binary_internal::bits;
  constexpr bool kInteger = std::is_integral_v<T>;
  switch (kind) {
    case BinaryKind::Add:
      return visitor([](T a, T b) {
        if constexpr (kInteger) return static_cast<T>(bits(a) + bits(b));
        return static_cast<T>(a + b);
      });
    case BinaryKind::Sub:
      return visitor([](T a, T b) {
        if constexpr (kInteger) return static_cast<T>(bits(a) - bits(b));
        return static_cast<T>(a - b);
      });
    case BinaryKind::Mul:
      return visitor([](T a, T b) {
        if constexpr (kInteger) return static_cast<T>(bits(a) * bits(b));
        return static_cast<T>(a * b);
      });
    case BinaryKind::Div:
      return visitor([](T a, T b) { return binary_internal::divide(a, b); });
    case BinaryKind::Pow:
      if constexpr (!kInteger) visitor([](T a, T b) { return std::pow(as_read(a), as_read(b)); });
      return;
    case BinaryKind::FloorMod:
      return visitor([](T a, T b) { return binary_internal::floor_mod(a, b); });
    case BinaryKind::Fmod:
      return visitor([](T a, T b) { return binary_internal::trunc_mod(a, b); });
    case BinaryKind::PRelu:
      return visitor([](T x, T slope) {
        if constexpr (kInteger) return x < T(0) ? static_cast<T>(bits(x) * bits(slope)) : x;
        return static_cast<T>(x < T(0) ? x * slope : x);
      });
    case BinaryKind::Max:  // NaN in either wins
      return visitor([](T a, T b) { return a > b || a != a ? a : b; });
    case BinaryKind::Min:
      return visitor([](T a, T b) { return a < b || a != a ? a : b; });
    default:
      return;
  }
}

/// Calls `visitor(f)` with a captureless `bool f(T a, T b)` for the comparisons; T is a number
/// type or, for Equal, bool.
template <class T, class Visitor>
void visit_comparison(BinaryKind kind, Visitor&& visitor) {
  switch (kind) {
    case BinaryKind::Equal:
      return visitor([](T a, T b) { return a == b; });
    case BinaryKind::Greater:
      return visitor([](T a, T b) { return a > b; });
    case BinaryKind::GreaterOrEqual:
      return visitor([](T a, T b) { return a >= b; });
    case BinaryKind::Less:
      return visitor([](T a, T b) { return a < b; });
    case BinaryKind::LessOrEqual:
      return visitor([](T a, T b) { return a <= b; });
    default:
      return;
  }
}

/// Calls `visitor(f)` with a captureless `T f(T a, T b)` for the bitwise kinds; T is an integer
/// type. A shift by less than 0 or by the width of T or more gives 0, or -1 where a negative
/// number is shifted right.
template <class T, class Visitor>
void visit_bitwise(BinaryKind kind, Visitor&& visitor) {
  switch (kind) {
    case BinaryKind::BitwiseAnd:
      return visitor([](T a, T b) { return static_cast<T>(a & b); });
    case BinaryKind::BitwiseOr:
      return visitor([](T a, T b) { return static_cast<T>(a | b); });
    case BinaryKind::BitwiseXor:
      return visitor([](T a, T b) { return static_cast<T>(a ^ b); });
    case BinaryKind::ShiftLeft:
      return visitor([](T a, T b) { return binary_internal::shift(a, b, true); });
    case BinaryKind::ShiftRight:
      return visitor([](T a, T b) { return binary_internal::shift(a, b, false); });
    default:
      return;
  }
}

}  // namespace het
