#pragma once

#include <cstdint>

#include "inference/tensors/element_type.h"

namespace het::cpu {

/// Pixels of a picture whose channels lie in blocks on one side and side by side on the other.
struct BlockCopy {
  int64_t pixels = 0;        ///< to be copied
  int64_t channels = 0;      ///< of a pixel
  int64_t block = 0;         ///< channels of a block: 8 or 16
  int64_t block_stride = 0;  ///< values from one block of a pixel to its next one
};

/// From blocks to pixels or back, where channels behind the last one become 0. Both types are
/// Float32 or BFloat16; they are converted to the nearest, halves to even, equal ones copied as
/// bits. Vectorised for the processor it runs on.
void copy_to_pixels(const BlockCopy& copy, ElementType from, const std::byte* blocks,
                    ElementType to, std::byte* pixels);
void copy_to_blocks(const BlockCopy& copy, ElementType from, const std::byte* pixels,
                    ElementType to, std::byte* blocks);

}  // namespace het::cpu
