#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace het::cpu {

/// Where the elements of a tensor lie whose dimensions are cut into blocks, as oneDNN's blocked
/// formats are: outer positions by strides, within a block of all cut dimensions densely.
struct BlockedLayout {
  struct Block {
    size_t dim;
    int64_t size;
  };
  std::vector<int64_t> dims;
  std::vector<int64_t> padded;   ///< dims, rounded up to whole blocks
  std::vector<int64_t> strides;  ///< in elements, from one block to the next in each dimension
  std::vector<Block> blocks;     ///< outermost first; a dimension may be cut more than once
};

/// Copies a tensor, element [i, j, ...] at from[i * from_strides[0] + j * from_strides[1] + ...],
/// into a blocked layout; padding becomes 0.
void pack_blocked(const float* from, const std::vector<int64_t>& from_strides,
                  const BlockedLayout& layout, float* to);

}  // namespace het::cpu
