#pragma once

#include <vector>

#include "inference/motion/motion_blocks.h"

namespace het::motion_internal {

/// Rectangles around blocks that touch each other, also at corners; in blocks, from the top left
/// one on.
std::vector<Rect> connected_blocks(BlockMask mask);

}  // namespace het::motion_internal
