#include "inference/decoders/boxes/oriented_boxes.h"

#include <algorithm>
#include <cmath>

namespace het {
namespace {

constexpr double kEpsilon = 1e-7;  // of the published formula, against divisions by 0

/// Covariance [a c; c b] of the Gaussian of a box: sides squared / 12, turned.
struct Covariance {
  double a = 0.0;
  double b = 0.0;
  double c = 0.0;
  double determinant() const { return std::max(a * b - c * c, 0.0); }
};

Covariance covariance(const Candidate& box) {
  const double width = static_cast<double>(box.x_max) - box.x_min;
  const double height = static_cast<double>(box.y_max) - box.y_min;
  const double along = width * width / 12.0;
  const double across = height * height / 12.0;
  const double cosine = std::cos(static_cast<double>(box.rotation));
  const double sine = std::sin(static_cast<double>(box.rotation));
  return {along * cosine * cosine + across * sine * sine,
          along * sine * sine + across * cosine * cosine, (along - across) * cosine * sine};
}

bool has_area(const Candidate& box) {
  return box.x_max > box.x_min && box.y_max > box.y_min;
}

}  // namespace

float probabilistic_iou(const Candidate& a, const Candidate& b) {
  if (!has_area(a) || !has_area(b)) return 0.0f;
  const Covariance first = covariance(a);
  const Covariance second = covariance(b);
  const Covariance sum{first.a + second.a, first.b + second.b, first.c + second.c};
  const double dx = (static_cast<double>(a.x_min) + a.x_max - b.x_min - b.x_max) / 2.0;
  const double dy = (static_cast<double>(a.y_min) + a.y_max - b.y_min - b.y_max) / 2.0;
  const double determinant = sum.a * sum.b - sum.c * sum.c;
  const double distance =
      (sum.a * dy * dy + sum.b * dx * dx) / (determinant + kEpsilon) * 0.25 -
      sum.c * dx * dy / (determinant + kEpsilon) * 0.5 +
      0.5 * std::log(determinant /
                         (4.0 * std::sqrt(first.determinant() * second.determinant()) + kEpsilon) +
                     kEpsilon);
  const double bhattacharyya = std::clamp(distance, kEpsilon, 100.0);
  return static_cast<float>(1.0 - std::sqrt(1.0 - std::exp(-bhattacharyya) + kEpsilon));
}

}  // namespace het
