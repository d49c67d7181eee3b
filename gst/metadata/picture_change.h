#pragma once

#include <gst/video/video.h>

#include <optional>

#include "inference/tensors/image.h"

namespace het::gst {

/// Where the places of a picture are in another one that an element has made of it: scaled, cut,
/// put between borders, mirrored, turned by quarters.
class PictureChange {
 public:
  /// From what a GstMetaTransformFunction gets: scaled (all versions of GStreamer) or by a matrix
  /// (from 1.28). None where rectangles would not stay rectangles.
  static std::optional<PictureChange> from(GQuark type, gpointer data);

  /// In pixels; cut off at the sides of what the picture has become, one pixel wide and high at
  /// least. None where nothing of it is left.
  std::optional<Rect> rect(const Rect& before) const;
  /// The same, not cut off.
  Rect moved(const Rect& before) const;
  /// A point in 0..1 of the picture, before and after.
  void relative_point(double& x, double& y) const;
  /// A box in 0..1 of the picture, before and after; it may leave it.
  void relative_box(double& x_min, double& y_min, double& x_max, double& y_max) const;
  /// A point in 0..1 of a rectangle that is not cut off.
  void point_of_rect(double& x, double& y) const;

  /// Places in 0..1 of the picture do not change.
  bool keeps_relative_places() const;
  /// Neither mirrored nor turned.
  bool is_upright() const { return x_from_x_ > 0.0 && y_from_y_ > 0.0; }
  bool is_mirrored() const { return x_from_x_ * y_from_y_ - x_from_y_ * y_from_x_ < 0.0; }

 private:
  PictureChange() = default;
  void point(double& x, double& y) const;
  /// Of a rectangle, where they are now: mirrored, left may be greater than right.
  struct Corners {
    double left, top, right, bottom;
  };
  Corners corners(const Rect& before) const;

  double x_from_x_ = 1.0, x_from_y_ = 0.0, x_shift_ = 0.0;
  double y_from_x_ = 0.0, y_from_y_ = 1.0, y_shift_ = 0.0;
  int from_width_ = 0, from_height_ = 0, to_width_ = 0, to_height_ = 0;
  Rect filled_;  ///< the part of the new picture that shows the old one
};

}  // namespace het::gst
