#include "inference/tracking/box_filter.h"

#include <algorithm>
#include <cmath>

namespace het::tracking {
namespace {

constexpr float kLargestCoordinate = 16777216.0f;

constexpr size_t kWidth = 2;
constexpr size_t kHeight = 3;

std::array<float, 4> centre_and_size(const Box& box) {
  return {(box.x_min + box.x_max) / 2.0f, (box.y_min + box.y_max) / 2.0f, box.width(),
          box.height()};
}

float square(float value) {
  return value * value;
}

}  // namespace

bool is_valid(const Box& box) {
  const auto bounded = [](float value) { return std::abs(value) <= kLargestCoordinate; };
  return bounded(box.x_min) && bounded(box.y_min) && bounded(box.x_max) && bounded(box.y_max) &&
         box.width() > 0.0f && box.height() > 0.0f;
}

float overlap(const Box& a, const Box& b) {
  const float width = std::min(a.x_max, b.x_max) - std::max(a.x_min, b.x_min);
  const float height = std::min(a.y_max, b.y_max) - std::max(a.y_min, b.y_min);
  if (!(width > 0.0f) || !(height > 0.0f)) return 0.0f;
  const float shared = width * height;
  return shared / (a.width() * a.height() + b.width() * b.height() - shared);
}

BoxFilter::BoxFilter(const Box& box, const BoxNoise& noise) : noise_(noise) {
  const std::array<float, 4> seen = centre_and_size(box);
  for (size_t i = 0; i < axes_.size(); ++i) axes_[i].value = seen[i];
  for (size_t i = 0; i < axes_.size(); ++i) {
    axes_[i].value_variance = square(2.0f * noise_.sight * size());
    axes_[i].velocity_variance = square(share_of(i) * noise_.new_velocity * size());
  }
}

float BoxFilter::size() const {
  return std::max((axes_[kWidth].value + axes_[kHeight].value) / 2.0f, 1.0f);
}

float BoxFilter::share_of(size_t axis) const {
  return axis == kWidth || axis == kHeight ? noise_.side_share : 1.0f;
}

void BoxFilter::predict() {
  const float place_noise = square(noise_.place * size());
  const float velocity_noise = noise_.velocity * size();
  for (size_t side : {kWidth, kHeight}) {
    Axis& axis = axes_[side];
    if (axis.value + axis.velocity < 1.0f) axis.velocity = 0.0f;
  }
  for (size_t i = 0; i < axes_.size(); ++i) {
    Axis& axis = axes_[i];
    axis.value += axis.velocity;
    axis.value_variance += 2.0f * axis.covariance + axis.velocity_variance + place_noise;
    axis.covariance += axis.velocity_variance;
    axis.velocity_variance += square(share_of(i) * velocity_noise);
  }
}

void BoxFilter::correct(const Box& box, float confidence) {
  const std::array<float, 4> seen = centre_and_size(box);
  const float doubt = noise_.doubt > 0.0f ? noise_.doubt * (1.0f - confidence) : 0.0f;
  const float noise = square(noise_.sight * (1.0f + doubt) * size());
  for (size_t i = 0; i < axes_.size(); ++i) {
    Axis& axis = axes_[i];
    const float innovation = seen[i] - axis.value;
    const float variance = axis.value_variance + noise;
    const float value_gain = axis.value_variance / variance;
    const float velocity_gain = axis.covariance / variance;
    axis.value += value_gain * innovation;
    axis.velocity += velocity_gain * innovation;
    axis.velocity_variance -= velocity_gain * axis.covariance;
    axis.covariance -= velocity_gain * axis.value_variance;
    axis.value_variance -= value_gain * axis.value_variance;
  }
}

Box BoxFilter::box() const {
  const float half_width = std::max(axes_[kWidth].value, 1.0f) / 2.0f;
  const float half_height = std::max(axes_[kHeight].value, 1.0f) / 2.0f;
  return {axes_[0].value - half_width, axes_[1].value - half_height, axes_[0].value + half_width,
          axes_[1].value + half_height};
}

float BoxFilter::distance(const Box& box) const {
  const std::array<float, 4> seen = centre_and_size(box);
  const float noise = square(noise_.sight * size());
  float sum = 0.0f;
  for (size_t i = 0; i < axes_.size(); ++i)
    sum += square(seen[i] - axes_[i].value) / (axes_[i].value_variance + noise);
  return sum;
}

}  // namespace het::tracking
