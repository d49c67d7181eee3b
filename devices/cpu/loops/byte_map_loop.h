#pragma once

#include <cstddef>
#include <cstdint>

namespace het::cpu {

/// dst[i] = map[src[i]], where `map` has 256 bytes; dst may be src.
void map_byte_row(const uint8_t* src, const uint8_t* map, size_t count, uint8_t* dst);

}  // namespace het::cpu
