#pragma once

#include <cstddef>
#include <cstdint>

#include "inference/tensors/element_type.h"

namespace het {

/// Smallest and largest value of an integer type of up to 32 bits, packed ones included.
struct IntegerRange {
  int64_t lowest;
  int64_t highest;
};
IntegerRange integer_range(ElementType type);

/// Element `i` of a dense array of an integer type of up to 32 bits; packed types have their first
/// element in the lowest bits.
int64_t load_integer(const std::byte* data, ElementType type, int64_t i);
/// Stores the low bits of `value`, leaving the neighbours in the same byte alone.
void store_integer(std::byte* data, ElementType type, int64_t i, int64_t value);

}  // namespace het
