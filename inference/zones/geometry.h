#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "inference/base/visibility.h"

/// Places and what lies where. Places are whole numbers of a 1/256 pixel, so that everything here
/// is decided exactly: nothing depends on the order of points or on rounding.
namespace het::zones {

struct Place {
  int64_t x = 0;
  int64_t y = 0;
  bool operator==(const Place&) const = default;
};

inline constexpr int64_t kPlacesPerPixel = 256;
/// Places farther from the origin come to this distance: products of four of them fit 128 bits.
inline constexpr double kMaxPixels = 1e6;

/// The nearest place of a point in pixels; NaN is 0.
HET_API Place place_at(double x, double y);
/// The nearest whole number of places of a length in pixels.
HET_API int64_t length_in_places(double pixels);

/// Twice the area of a, b, p: above 0 where p is on the right of the way from a to b, as a picture
/// is seen (y grows downwards).
int64_t cross_product(const Place& a, const Place& b, const Place& p);

/// By the even-odd rule: of a polygon that crosses itself, what is covered twice is outside. A
/// point on an edge is inside.
HET_API bool polygon_contains(const std::vector<Place>& points, const Place& p);
/// With the circle itself.
HET_API bool circle_contains(const Place& centre, int64_t radius, const Place& p);
/// Whether p is at most `distance` away from the segment from a to b.
HET_API bool is_near_segment(const Place& a, const Place& b, int64_t distance, const Place& p);

struct LineCrossing {
  int direction = 0;      ///< 1: from the left of a -> b to its right; -1: to the left
  double fraction = 0.0;  ///< where on the way, 0..1
};

/// Whether the way `from` -> `to` crosses the segment from a to b (its ends included). A point on
/// the line through a and b counts as right of it, so that a way in several pieces crosses as often
/// as the whole.
HET_API std::optional<LineCrossing> line_crossing(const Place& from, const Place& to,
                                                  const Place& a, const Place& b);

}  // namespace het::zones
