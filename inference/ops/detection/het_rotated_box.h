#pragma once

namespace het {

/// A box around a centre, turned by `angle` radians: the x axis towards the y axis where positive.
struct RotatedBox {
  double center_x = 0;
  double center_y = 0;
  double width = 0;
  double height = 0;
  double angle = 0;
};

/// Intersection over union of two turned boxes, exact but for rounding; 0 where one has no area.
double intersection_over_union(const RotatedBox& a, const RotatedBox& b);

}  // namespace het
