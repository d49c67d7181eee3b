#pragma once

#include <bit>
#include <cstdint>

namespace het::cpu {

/// Whole numbers that are ordered as the values are: NaN above every number and equal to itself,
/// -0 equal to 0.
inline uint32_t order_key(float value) {
  if (value != value) return 0xffffffffu;
  const auto bits = std::bit_cast<uint32_t>(value + 0.0f);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}
inline uint32_t order_key(int32_t value) {
  return static_cast<uint32_t>(value) ^ 0x80000000u;
}

/// Sorting these from large to small gives the largest values first and, among equal ones, the
/// smallest index first.
inline uint64_t rank_key(uint32_t order, uint32_t index) {
  return uint64_t{order} << 32 | (0xffffffffu - index);
}
inline uint32_t rank_index(uint64_t key) {
  return 0xffffffffu - static_cast<uint32_t>(key);
}

}  // namespace het::cpu
