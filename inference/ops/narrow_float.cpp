#include "inference/ops/narrow_float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace het {
namespace {

/// A format of sign, exponent and mantissa, described by what differs.
struct NarrowFormat {
  int mantissa_bits;
  int bias;
  uint8_t sign;      ///< mask of the sign bit
  uint8_t largest;   ///< code of the largest finite value
  uint8_t overflow;  ///< code of what is too large when not saturating
  uint8_t nan;
  bool one_zero;  ///< FNUZ: the code of -0 is the only NaN
};

NarrowFormat format_of(ElementType type) {
  switch (type) {
    case ElementType::Float8E4M3FN:
      return {3, 7, 0x80, 0x7e, 0x7f, 0x7f, false};
    case ElementType::Float8E4M3FNUZ:
      return {3, 8, 0x80, 0x7f, 0x80, 0x80, true};
    case ElementType::Float8E5M2:
      return {2, 15, 0x80, 0x7b, 0x7c, 0x7e, false};
    case ElementType::Float8E5M2FNUZ:
      return {2, 16, 0x80, 0x7f, 0x80, 0x80, true};
    default:  // Float4E2M1 has neither infinity nor NaN
      return {1, 1, 0x08, 0x07, 0x07, 0x08, false};
  }
}

/// The code of |value|, which is finite; may exceed format.largest.
int magnitude_code(const NarrowFormat& format, double value) {
  if (value == 0) return 0;
  const int smallest = 1 - format.bias;  // exponent of the subnormals and of the first normals
  const int exponent = std::max(std::ilogb(value), smallest);
  // Beyond this every format has ended; the code would not fit.
  if (exponent > 32) return std::numeric_limits<int>::max();
  const double steps = std::nearbyint(std::ldexp(value, format.mantissa_bits - exponent));
  return ((exponent - smallest) << format.mantissa_bits) + static_cast<int>(steps);
}

uint8_t float_to_power(double value, bool saturate, PowerRounding rounding) {
  constexpr uint8_t kNaN = 0xff;
  constexpr uint8_t kLargest = 0xfe;
  if (std::isnan(value)) return kNaN;
  const auto magnitude = static_cast<float>(std::fabs(value));
  if (std::isinf(magnitude)) return saturate ? kLargest : kNaN;
  if (magnitude == 0) return saturate ? 0 : kNaN;
  const uint32_t bits = std::bit_cast<uint32_t>(magnitude);
  const uint32_t exponent = bits >> 23;
  const uint32_t fraction = bits & 0x7fffffu;
  bool up = false;
  if (rounding == PowerRounding::Up) up = fraction != 0;
  if (rounding == PowerRounding::Nearest) {
    // 2^-127 is a subnormal float: halfway to the next power, but exact.
    up = exponent > 0 ? fraction >= 0x400000u : fraction > 0x400000u;
  }
  if (up && exponent == kLargest && saturate) up = false;
  return static_cast<uint8_t>(exponent + (up ? 1 : 0));
}

}  // namespace

bool is_narrow_float(ElementType type) {
  return type >= ElementType::Float4E2M1 && type <= ElementType::Float8E8M0;
}

float narrow_to_float(ElementType type, uint8_t bits) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  if (type == ElementType::Float8E8M0) return bits == 0xff ? kNaN : std::ldexp(1.0f, bits - 127);
  const NarrowFormat format = format_of(type);
  const bool negative = (bits & format.sign) != 0;
  const int code = bits & (format.sign - 1);
  if (format.one_zero && negative && code == 0) return kNaN;
  if (code > format.largest) {
    // Only Float8E5M2 has an infinity, and it comes right after the largest value.
    const bool infinite = type == ElementType::Float8E5M2 && code == format.overflow;
    const float special = infinite ? std::numeric_limits<float>::infinity() : kNaN;
    return negative ? -special : special;
  }
  const int field = code >> format.mantissa_bits;
  const int fraction = code & ((1 << format.mantissa_bits) - 1);
  const int steps = field == 0 ? fraction : fraction + (1 << format.mantissa_bits);
  const float magnitude = std::ldexp(static_cast<float>(steps),
                                     std::max(field, 1) - format.bias - format.mantissa_bits);
  return negative ? -magnitude : magnitude;
}

uint8_t float_to_narrow(ElementType type, double value, bool saturate, PowerRounding rounding) {
  if (type == ElementType::Float8E8M0) return float_to_power(value, saturate, rounding);
  const NarrowFormat format = format_of(type);
  const bool negative = std::signbit(value);
  if (std::isnan(value)) {
    if (format.one_zero) return format.nan;
    return static_cast<uint8_t>(negative ? format.nan ^ format.sign : format.nan);
  }
  const int code = std::isinf(value) ? std::numeric_limits<int>::max()
                                     : magnitude_code(format, std::fabs(value));
  uint8_t result = static_cast<uint8_t>(code);
  if (code > format.largest) {
    result = saturate ? format.largest : format.overflow;
    if (!saturate && format.one_zero) return format.nan;
  }
  if (negative && !(format.one_zero && result == 0)) result |= format.sign;
  return result;
}

}  // namespace het
