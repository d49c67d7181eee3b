#pragma once

#include <cstdint>
#include <vector>

#include "inference/base/status.h"

namespace het {

/// Lengths of the parts when a dimension is cut into `parts` equal ones; the last is shorter, or
/// further ones are empty, when it does not divide evenly. `parts` >= 1.
std::vector<int64_t> equal_split(int64_t dimension, size_t parts);

/// Checks that the lengths given to a Split are >= 0, as many as `parts` and fill the dimension.
Status check_split(const std::vector<int64_t>& lengths, int64_t dimension, size_t parts);

}  // namespace het
