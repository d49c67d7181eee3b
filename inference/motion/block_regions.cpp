#include "inference/motion/block_regions.h"

#include <algorithm>

namespace het::motion_internal {
namespace {

struct BlockPlace {
  int column;
  int row;
};

/// Takes what is connected to `start` out of the mask.
Rect take_region(BlockMask& mask, BlockPlace start, std::vector<BlockPlace>& open) {
  int left = start.column;
  int right = start.column;
  int top = start.row;
  int bottom = start.row;
  mask.at(start.column, start.row) = 0;
  open.assign(1, start);
  while (!open.empty()) {
    const BlockPlace at = open.back();
    open.pop_back();
    left = std::min(left, at.column);
    right = std::max(right, at.column);
    top = std::min(top, at.row);
    bottom = std::max(bottom, at.row);
    for (int row = std::max(at.row - 1, 0); row <= std::min(at.row + 1, mask.rows - 1); ++row) {
      for (int column = std::max(at.column - 1, 0);
           column <= std::min(at.column + 1, mask.columns - 1); ++column) {
        if (!mask.at(column, row)) continue;
        mask.at(column, row) = 0;
        open.push_back({column, row});
      }
    }
  }
  return {left, top, right - left + 1, bottom - top + 1};
}

}  // namespace

std::vector<Rect> connected_blocks(BlockMask mask) {
  std::vector<Rect> regions;
  std::vector<BlockPlace> open;
  for (int row = 0; row < mask.rows; ++row) {
    for (int column = 0; column < mask.columns; ++column) {
      if (mask.at(column, row)) regions.push_back(take_region(mask, {column, row}, open));
    }
  }
  return regions;
}

}  // namespace het::motion_internal
