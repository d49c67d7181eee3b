#pragma once

#include <cstddef>

#include "inference/model/model.h"

namespace het::cpu {

/// True for convolutions in floats that the calling thread finishes before a team would have:
/// waking it and waiting for the last one costs 2 us, and another program on one of its cores far
/// more.
bool is_small_convolution(const Node& node);

/// True for reorders of this many bytes, read and written: their parts share cache lines.
bool is_small_reorder(size_t bytes);

}  // namespace het::cpu
