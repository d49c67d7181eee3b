#include "inference/ops/packed_integer.h"

#include <cstring>

namespace het {
namespace {

bool is_signed(ElementType type) {
  return type == ElementType::Int2 || type == ElementType::Int4 || type == ElementType::Int8 ||
         type == ElementType::Int16 || type == ElementType::Int32;
}

}  // namespace

IntegerRange integer_range(ElementType type) {
  const auto bits = static_cast<int64_t>(bit_width(type));
  const int64_t values = int64_t{1} << bits;
  if (is_signed(type)) return {-values / 2, values / 2 - 1};
  return {0, values - 1};
}

int64_t load_integer(const std::byte* data, ElementType type, int64_t i) {
  const auto bits = static_cast<int64_t>(bit_width(type));
  uint32_t value = 0;
  if (bits < 8) {
    const auto byte = std::to_integer<uint32_t>(data[i * bits / 8]);
    value = byte >> (i * bits % 8) & ((1u << bits) - 1);
  } else {
    std::memcpy(&value, data + i * bits / 8, static_cast<size_t>(bits / 8));
  }
  const IntegerRange range = integer_range(type);
  const auto wide = static_cast<int64_t>(value);
  return wide > range.highest ? wide - (int64_t{1} << bits) : wide;
}

void store_integer(std::byte* data, ElementType type, int64_t i, int64_t value) {
  const auto bits = static_cast<int64_t>(bit_width(type));
  const auto low = static_cast<uint32_t>(value);
  if (bits < 8) {
    const auto shift = static_cast<uint32_t>(i * bits % 8);
    const uint32_t mask = ((1u << bits) - 1) << shift;
    std::byte& byte = data[i * bits / 8];
    byte =
        static_cast<std::byte>((std::to_integer<uint32_t>(byte) & ~mask) | (low << shift & mask));
  } else {
    std::memcpy(data + i * bits / 8, &low, static_cast<size_t>(bits / 8));
  }
}

}  // namespace het
