#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "inference/tensors/image.h"

namespace het::gst {

/// Where a rectangle of a picture of `from_width` x `from_height` pixels is in one of another size:
/// cut off at the picture's right and lower sides, one pixel wide and high at least.
inline Rect scaled_rect(const Rect& rect, int from_width, int from_height, int to_width,
                        int to_height) {
  const auto scale = [](int from_size, int to_size, int start, int count, int* to_start,
                        int* to_count) {
    const double factor = static_cast<double>(to_size) / std::max(from_size, 1);
    const auto at = [&](int64_t place) {
      return static_cast<int>(std::clamp(std::lround(static_cast<double>(place) * factor), 0l,
                                         static_cast<long>(to_size)));
    };
    *to_start = std::min(at(start), to_size - 1);
    *to_count = std::max(at(std::min<int64_t>(int64_t{start} + count, from_size)) - *to_start, 1);
  };
  Rect scaled;
  scale(from_width, to_width, rect.x, rect.width, &scaled.x, &scaled.width);
  scale(from_height, to_height, rect.y, rect.height, &scaled.y, &scaled.height);
  return scaled;
}

}  // namespace het::gst
