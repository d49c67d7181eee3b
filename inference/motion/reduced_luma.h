#pragma once

#include <cstdint>
#include <vector>

#include "inference/motion/motion_detector.h"

namespace het::motion_internal {

/// A picture at 1, 1/2, 1/4 or 1/8 of its size: means of squares, those at the right and lower edge
/// with the last pixels repeated. Some 320x180 pixels or a little more are left of every picture.
class ReducedLuma {
 public:
  ReducedLuma() = default;
  ReducedLuma(int width, int height);

  int factor() const { return factor_; }
  int width() const { return width_; }
  int height() const { return height_; }
  /// Pixels from row to row, a multiple of kColumnStep.
  int stride() const { return stride_; }
  const uint8_t* row(int y) const { return pixels_.data() + int64_t{y} * stride_; }

  /// Reads a picture of the size that this was made for.
  void read(const motion::LumaPlane& luma);

 private:
  int factor_ = 1;
  int source_width_ = 0;
  int width_ = 0;
  int height_ = 0;
  int stride_ = 0;
  std::vector<uint8_t> pixels_;
  std::vector<uint16_t> sums_;
  std::vector<uint16_t> pairs_;
};

}  // namespace het::motion_internal
