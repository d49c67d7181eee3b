#pragma once

#include <algorithm>

namespace het {

/// A box by its sides; `Real` is float or double.
template <class Real>
struct BoxSides {
  Real x_min = 0;
  Real y_min = 0;
  Real x_max = 0;
  Real y_max = 0;
};

/// Intersection over union; 0 where the boxes do not overlap or one is turned inside out. `border`
/// is added to widths and heights: 1 where x_max and y_max name the last pixel.
template <class Real>
Real intersection_over_union(const BoxSides<Real>& a, const BoxSides<Real>& b, Real border = 0) {
  const Real width = std::min(a.x_max, b.x_max) - std::max(a.x_min, b.x_min) + border;
  const Real height = std::min(a.y_max, b.y_max) - std::max(a.y_min, b.y_min) + border;
  if (!(width > 0) || !(height > 0)) return 0;
  const auto area = [border](const BoxSides<Real>& box) {
    return (box.x_max - box.x_min + border) * (box.y_max - box.y_min + border);
  };
  const Real both = width * height;
  return both / (area(a) + area(b) - both);
}

/// The same, but the border does not make boxes overlap that lie apart by less than it.
template <class Real>
Real touching_overlap(const BoxSides<Real>& a, const BoxSides<Real>& b, Real border) {
  const bool touch =
      a.x_min <= b.x_max && b.x_min <= a.x_max && a.y_min <= b.y_max && b.y_min <= a.y_max;
  return touch ? intersection_over_union(a, b, border) : 0;
}

}  // namespace het
