#pragma once

#include <vector>

#include "plane.h"

namespace het::gst {

/// Where something is, in pixels.
struct Position {
  int x = 0;
  int y = 0;
};

/// A convex shape as one run of pixels in each row of a plane. Coordinates may leave the plane;
/// what is outside is not kept.
class RowSpans {
 public:
  /// Of a plane with this size.
  RowSpans(int width, int height) : width_(width), height_(height) {}

  /// All pixels within `radius` of the centre.
  void add_disc(const Position& centre, int radius);
  /// A line with round ends, in place of what was there: the pixels within half of the width,
  /// rounded up, and those in which that ends. So 2 is 3 pixels wide, 3 and 4 are 5; 1 is one.
  void add_line(const Position& from, const Position& to, int line_width);

  void fill(const Plane& plane, const Samples& samples) const;

 private:
  struct Span {
    int first;
    int last;
  };
  void start(int top, int bottom);
  void add(int first, int last, int y);
  void add_edge(double x0, double y0, double x1, double y1);

  int width_;
  int height_;
  int top_ = 0;  ///< row of the first span
  std::vector<Span> spans_;
};

}  // namespace het::gst
