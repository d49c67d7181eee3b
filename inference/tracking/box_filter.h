#pragma once

#include <array>
#include <cstddef>

namespace het::tracking {

/// An upright box in pixels of the picture.
struct Box {
  float x_min = 0.0f;
  float y_min = 0.0f;
  float x_max = 0.0f;
  float y_max = 0.0f;

  float width() const { return x_max - x_min; }
  float height() const { return y_max - y_min; }
};

/// True where all corners are finite, within 2^24 pixels, and the box has an area.
bool is_valid(const Box& box);
/// Area of the intersection divided by the area of the union; 0 where either box has no area.
float overlap(const Box& a, const Box& b);

/// Standard deviations in sizes of the box. The defaults are those of Wojke, Bewley and Paulus
/// ("Simple online and realtime tracking with a deep association metric", 2017); only the velocity
/// of a new object is less certain here, so that fast ones are followed from the second frame on.
struct BoxNoise {
  float place = 1.0f / 20.0f;      ///< by which a place changes a frame beside its velocity
  float velocity = 1.0f / 160.0f;  ///< by which a velocity changes a frame
  float sight = 1.0f / 20.0f;      ///< of what is seen
  float new_velocity = 1.0f / 4.0f;
  float doubt = 0.0f;       ///< by which `sight` grows, times 1 + doubt, as confidence falls to 0
  float side_share = 1.0f;  ///< of velocity and new_velocity, for width and height
};

/// A Kalman filter of one object's box: centre, width and height move with constant velocities, in
/// pixels per frame. The noise grows with the box. No coordinate depends on another one, so a
/// filter of eight states is four of two states. A value type.
class BoxFilter {
 public:
  explicit BoxFilter(const Box& box, const BoxNoise& noise = {});

  /// One frame passes.
  void predict();
  /// The object was seen at `box` in the frame of the last predict().
  void correct(const Box& box, float confidence = 1.0f);

  /// Where the object is supposed to be; at least one pixel wide and high.
  Box box() const;
  /// Squared Mahalanobis distance of a box from the supposed one: of boxes of the same object 95 %
  /// are below kGate.
  float distance(const Box& box) const;

  /// The 95 % quantile of the chi-squared distribution with four degrees of freedom.
  static constexpr float kGate = 9.4877f;

 private:
  /// One coordinate.
  struct Axis {
    float value = 0.0f;
    float velocity = 0.0f;
    float value_variance = 0.0f;
    float covariance = 0.0f;
    float velocity_variance = 0.0f;
  };
  /// Mean of width and height, which noise is relative to.
  float size() const;
  /// The share of velocity noise that an axis has.
  float share_of(size_t axis) const;

  BoxNoise noise_;
  std::array<Axis, 4> axes_;  ///< centre x, centre y, width, height
};

}  // namespace het::tracking
