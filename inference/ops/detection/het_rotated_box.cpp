#include "inference/ops/detection/het_rotated_box.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace het {
namespace {

struct Point {
  double x;
  double y;
};

/// Corners in the order of a positive turn.
std::vector<Point> corners(const RotatedBox& box) {
  const double cosine = std::cos(box.angle);
  const double sine = std::sin(box.angle);
  std::vector<Point> points;
  for (const auto& [right, down] :
       {Point{-.5, -.5}, Point{.5, -.5}, Point{.5, .5}, Point{-.5, .5}}) {
    const double x = right * box.width;
    const double y = down * box.height;
    points.push_back({box.center_x + x * cosine - y * sine, box.center_y + x * sine + y * cosine});
  }
  return points;
}

/// Twice the signed area of the triangle a, b, p.
double side(const Point& a, const Point& b, const Point& p) {
  return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

/// What lies on the inner side of the line from a to b (Sutherland, Hodgman, "Reentrant polygon
/// clipping").
std::vector<Point> clipped(const std::vector<Point>& polygon, const Point& a, const Point& b) {
  std::vector<Point> inside;
  for (size_t i = 0; i < polygon.size(); ++i) {
    const Point& from = polygon[i];
    const Point& to = polygon[(i + 1) % polygon.size()];
    const double s = side(a, b, from);
    const double t = side(a, b, to);
    if (s >= 0) inside.push_back(from);
    if ((s > 0 && t < 0) || (s < 0 && t > 0)) {
      const double part = s / (s - t);
      inside.push_back({from.x + part * (to.x - from.x), from.y + part * (to.y - from.y)});
    }
  }
  return inside;
}

double area(const std::vector<Point>& polygon) {
  double sum = 0;
  for (size_t i = 1; i + 1 < polygon.size(); ++i)
    sum += side(polygon[0], polygon[i], polygon[i + 1]);
  return sum / 2;
}

}  // namespace

double intersection_over_union(const RotatedBox& a, const RotatedBox& b) {
  const double area_a = a.width * a.height;
  const double area_b = b.width * b.height;
  if (!(a.width > 0) || !(a.height > 0) || !(b.width > 0) || !(b.height > 0)) return 0;
  std::vector<Point> common = corners(a);
  const std::vector<Point> other = corners(b);
  for (size_t i = 0; i < other.size() && !common.empty(); ++i) {
    common = clipped(common, other[i], other[(i + 1) % other.size()]);
  }
  const double both = std::max(0.0, area(common));
  const double all = area_a + area_b - both;
  return all > 0 ? both / all : 0;
}

}  // namespace het
