#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "inference/base/status.h"
#include "inference/base/visibility.h"

namespace het {

/// Type of one tensor element. Sub-byte types are packed, lowest bits first.
enum class ElementType : uint8_t {
  Undefined,  ///< not known before run time
  Bool,
  Int2,
  UInt2,
  Int4,
  UInt4,
  Int8,
  UInt8,
  Int16,
  UInt16,
  Int32,
  UInt32,
  Int64,
  UInt64,
  Float4E2M1,
  Float8E4M3FN,
  Float8E4M3FNUZ,
  Float8E5M2,
  Float8E5M2FNUZ,
  Float8E8M0,
  Float16,
  BFloat16,
  Float32,
  Float64,
};

/// Bits of one element; 0 for Undefined.
HET_API size_t bit_width(ElementType type);
/// NumPy-like name: "float32", "int64", "bool", "bfloat16" ...
HET_API std::string_view to_string(ElementType type);
/// Accepts to_string()'s names and OpenVINO's (f32, FP32, f16, U8, i64 ...).
HET_API Result<ElementType> parse_element_type(std::string_view name);

/// True for Float16, BFloat16, Float32 and Float64.
HET_API bool is_float(ElementType type);
/// True for the signed and unsigned integers, Bool excluded.
HET_API bool is_integer(ElementType type);

/// Bytes of a whole-byte element; 0 for Undefined and sub-byte types.
inline size_t byte_width(ElementType type) {
  return bit_width(type) / 8;
}

HET_API float half_to_float(uint16_t bits);
/// Rounds to nearest even; overflows to infinity; keeps NaN.
HET_API uint16_t float_to_half(float value);

inline float bfloat16_to_float(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}
/// Rounds to nearest even; keeps NaN.
HET_API uint16_t float_to_bfloat16(float value);

/// IEEE binary16 in memory; arithmetic happens in float.
struct Float16 {
  uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float value) : bits(float_to_half(value)) {}
  operator float() const { return half_to_float(bits); }
};

/// bfloat16 in memory; arithmetic happens in float.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) : bits(float_to_bfloat16(value)) {}
  operator float() const { return bfloat16_to_float(bits); }
};

/// The ElementType of a C++ type; only whole-byte types have one.
template <class T>
constexpr ElementType element_type_of();
template <>
constexpr ElementType element_type_of<bool>() {
  return ElementType::Bool;
}
template <>
constexpr ElementType element_type_of<int8_t>() {
  return ElementType::Int8;
}
template <>
constexpr ElementType element_type_of<uint8_t>() {
  return ElementType::UInt8;
}
template <>
constexpr ElementType element_type_of<int16_t>() {
  return ElementType::Int16;
}
template <>
constexpr ElementType element_type_of<uint16_t>() {
  return ElementType::UInt16;
}
template <>
constexpr ElementType element_type_of<int32_t>() {
  return ElementType::Int32;
}
template <>
constexpr ElementType element_type_of<uint32_t>() {
  return ElementType::UInt32;
}
template <>
constexpr ElementType element_type_of<int64_t>() {
  return ElementType::Int64;
}
template <>
constexpr ElementType element_type_of<uint64_t>() {
  return ElementType::UInt64;
}
template <>
constexpr ElementType element_type_of<Float16>() {
  return ElementType::Float16;
}
template <>
constexpr ElementType element_type_of<BFloat16>() {
  return ElementType::BFloat16;
}
template <>
constexpr ElementType element_type_of<float>() {
  return ElementType::Float32;
}
template <>
constexpr ElementType element_type_of<double>() {
  return ElementType::Float64;
}

}  // namespace het
