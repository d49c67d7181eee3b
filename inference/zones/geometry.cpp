#include "geometry.h"

#include <algorithm>
#include <cmath>

namespace het::zones {
namespace {

__extension__ using WideInt = __int128;

int64_t to_places(double pixels) {
  if (!(pixels == pixels)) return 0;
  return std::llround(std::clamp(pixels, -kMaxPixels, kMaxPixels) * kPlacesPerPixel);
}

/// The length of b - a times that of p - a in its direction.
int64_t dot_product(const Place& a, const Place& b, const Place& p) {
  return (b.x - a.x) * (p.x - a.x) + (b.y - a.y) * (p.y - a.y);
}

int64_t squared_distance(const Place& a, const Place& b) {
  return dot_product(a, b, b);
}

bool is_on_segment(const Place& a, const Place& b, const Place& p) {
  return cross_product(a, b, p) == 0 && std::min(a.x, b.x) <= p.x && p.x <= std::max(a.x, b.x) &&
         std::min(a.y, b.y) <= p.y && p.y <= std::max(a.y, b.y);
}

}  // namespace

Place place_at(double x, double y) {
  return {to_places(x), to_places(y)};
}

int64_t length_in_places(double pixels) {
  return std::max(to_places(pixels), int64_t{0});
}

int64_t cross_product(const Place& a, const Place& b, const Place& p) {
  return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

bool polygon_contains(const std::vector<Place>& points, const Place& p) {
  bool inside = false;
  for (size_t i = 0; i < points.size(); ++i) {
    const Place& a = points[i];
    const Place& b = points[(i + 1) % points.size()];
    if (is_on_segment(a, b, p)) return true;
    // The ray from p to the right meets the edge where p is left of it; an edge has its upper end
    // but not its lower one.
    if ((a.y > p.y) == (b.y > p.y)) continue;
    if ((cross_product(a, b, p) > 0) == (b.y > a.y)) inside = !inside;
  }
  return inside;
}

bool circle_contains(const Place& centre, int64_t radius, const Place& p) {
  return squared_distance(centre, p) <= radius * radius;
}

bool is_near_segment(const Place& a, const Place& b, int64_t distance, const Place& p) {
  const int64_t along = dot_product(a, b, p);
  const int64_t squared_length = squared_distance(a, b);
  if (along <= 0) return squared_distance(a, p) <= distance * distance;
  if (along >= squared_length) return squared_distance(b, p) <= distance * distance;
  const WideInt cross = cross_product(a, b, p);
  return cross * cross <= WideInt{distance} * distance * squared_length;
}

std::optional<LineCrossing> line_crossing(const Place& from, const Place& to, const Place& a,
                                          const Place& b) {
  const int64_t side_from = cross_product(a, b, from);
  const int64_t side_to = cross_product(a, b, to);
  if ((side_from >= 0) == (side_to >= 0)) return std::nullopt;
  // The way meets the line at from + (to - from) * side_from / (side_from - side_to).
  WideInt divisor = WideInt{side_from} - side_to;
  WideInt along =
      WideInt{dot_product(a, b, to)} * side_from - WideInt{dot_product(a, b, from)} * side_to;
  if (divisor < 0) {
    divisor = -divisor;
    along = -along;
  }
  if (along < 0 || along > divisor * squared_distance(a, b)) return std::nullopt;
  return LineCrossing{side_to >= 0 ? 1 : -1,
                      static_cast<double>(side_from) /
                          (static_cast<double>(side_from) - static_cast<double>(side_to))};
}

}  // namespace het::zones
