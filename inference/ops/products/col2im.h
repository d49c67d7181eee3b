#pragma once

#include <cstdint>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/attributes.h"

namespace het {

/// The sliding blocks that Col2Im's columns came from; one entry per spatial dimension.
struct BlockGrid {
  std::vector<int64_t> image;
  std::vector<int64_t> block;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads;   ///< all begins, then all ends
  std::vector<int64_t> count;  ///< blocks along each dimension
};

/// `image` and `block` are the inputs image_shape and block_shape; the rest are attributes.
Result<BlockGrid> block_grid(const Attributes& attributes, std::vector<int64_t> image,
                             std::vector<int64_t> block);

}  // namespace het
