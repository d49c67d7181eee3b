#pragma once

#include <cstdint>
#include <vector>

#include "inference/tensors/shape.h"

namespace het {

/// Element offsets into a dense array of which some axes are reduced: output element o collects
/// the elements outer[o] + inner[i] for all i.
struct ReducePlan {
  std::vector<int64_t> outer{0};
  std::vector<int64_t> inner{0};
};

/// `axes` in [0, rank); both lists follow row-major order.
ReducePlan plan_reduce(const Shape& x, const std::vector<int64_t>& axes);

}  // namespace het
