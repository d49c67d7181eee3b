#pragma once

#include "plane.h"

namespace het::gst {

/// Each pixel of a rectangle inside the plane becomes the mean of the size x size pixels around it,
/// rounded. What lies beyond an edge of the rectangle is like the edge. `size` is odd.
void box_blur(const Plane& plane, const Rect& rect, int size);

}  // namespace het::gst
