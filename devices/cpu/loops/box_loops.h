#pragma once

#include <cstddef>

namespace het::cpu {

/// Boxes by their sides, one array per side.
struct BoxArrays {
  const float* x_min = nullptr;
  const float* y_min = nullptr;
  const float* x_max = nullptr;
  const float* y_max = nullptr;
};

/// True when the intersection over union of box `i` and one of the first `count` boxes is above the
/// threshold; vectorised for the processor it runs on. Boxes that do not overlap have 0.
bool overlaps_any(const BoxArrays& boxes, size_t i, size_t count, float threshold);

}  // namespace het::cpu
