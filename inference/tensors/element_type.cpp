#include "inference/tensors/element_type.h"

#include <array>
#include <cmath>
#include <cstring>

namespace het {
namespace {

struct TypeRow {
  ElementType type;
  size_t bits;
  std::string_view name;
  std::string_view openvino_name;
};

constexpr std::array<TypeRow, 24> kTypes{{
    {ElementType::Undefined, 0, "undefined", "dynamic"},
    {ElementType::Bool, 8, "bool", "boolean"},
    {ElementType::Int2, 2, "int2", "i2"},
    {ElementType::UInt2, 2, "uint2", "u2"},
    {ElementType::Int4, 4, "int4", "i4"},
    {ElementType::UInt4, 4, "uint4", "u4"},
    {ElementType::Int8, 8, "int8", "i8"},
    {ElementType::UInt8, 8, "uint8", "u8"},
    {ElementType::Int16, 16, "int16", "i16"},
    {ElementType::UInt16, 16, "uint16", "u16"},
    {ElementType::Int32, 32, "int32", "i32"},
    {ElementType::UInt32, 32, "uint32", "u32"},
    {ElementType::Int64, 64, "int64", "i64"},
    {ElementType::UInt64, 64, "uint64", "u64"},
    {ElementType::Float4E2M1, 4, "float4e2m1", "f4e2m1"},
    {ElementType::Float8E4M3FN, 8, "float8e4m3fn", "f8e4m3"},
    {ElementType::Float8E4M3FNUZ, 8, "float8e4m3fnuz", "f8e4m3fnuz"},
    {ElementType::Float8E5M2, 8, "float8e5m2", "f8e5m2"},
    {ElementType::Float8E5M2FNUZ, 8, "float8e5m2fnuz", "f8e5m2fnuz"},
    {ElementType::Float8E8M0, 8, "float8e8m0", "f8e8m0"},
    {ElementType::Float16, 16, "float16", "f16"},
    {ElementType::BFloat16, 16, "bfloat16", "bf16"},
    {ElementType::Float32, 32, "float32", "f32"},
    {ElementType::Float64, 64, "float64", "f64"},
}};

const TypeRow& row_of(ElementType type) {
  return kTypes[static_cast<size_t>(type)];
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = lower(c);
  return result;
}

}  // namespace

size_t bit_width(ElementType type) {
  return row_of(type).bits;
}

std::string_view to_string(ElementType type) {
  return row_of(type).name;
}

Result<ElementType> parse_element_type(std::string_view name) {
  std::string wanted = lower(name);
  // OpenVINO's older spelling: FP32, FP16.
  if (wanted.rfind("fp", 0) == 0) wanted.erase(1, 1);
  std::string valid;
  for (const TypeRow& row : kTypes) {
    if (row.type == ElementType::Undefined) continue;
    if (wanted == row.name || wanted == row.openvino_name) return row.type;
    valid += valid.empty() ? "" : ", ";
    valid += row.openvino_name;
  }
  return error(StatusCode::InvalidArgument, "unknown element type '{}'; valid are {}", name, valid);
}

bool is_float(ElementType type) {
  return type >= ElementType::Float16;
}

bool is_integer(ElementType type) {
  return type >= ElementType::Int2 && type <= ElementType::UInt64;
}

float half_to_float(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) {
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  }
  // Zero and subnormals: mantissa * 2^-24 is exact in float.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {  // NaN: keep the upper payload bits, stay quiet
    return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  }
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds to infinity
  if (magnitude >= 0x38800000u) {                                              // normal in half
    const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
  }
  // Subnormal or zero: adding 0.5f aligns the mantissa so that the FPU rounds at the right bit.
  const float aligned = std::bit_cast<float>(magnitude) + 0.5f;
  return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(aligned) - 0x3f000000u));
}

uint16_t float_to_bfloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace het
