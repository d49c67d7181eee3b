#include "picture_change.h"

#include <algorithm>
#include <cmath>

namespace het::gst {

std::optional<PictureChange> PictureChange::from(GQuark type, gpointer data) {
  PictureChange change;
  const auto set_sizes = [&](const GstVideoInfo& from, const GstVideoInfo& to) {
    change.from_width_ = GST_VIDEO_INFO_WIDTH(&from);
    change.from_height_ = GST_VIDEO_INFO_HEIGHT(&from);
    change.to_width_ = GST_VIDEO_INFO_WIDTH(&to);
    change.to_height_ = GST_VIDEO_INFO_HEIGHT(&to);
  };
  if (GST_VIDEO_META_TRANSFORM_IS_SCALE(type)) {
    const auto* scale = static_cast<const GstVideoMetaTransform*>(data);
    set_sizes(*scale->in_info, *scale->out_info);
    change.x_from_x_ = static_cast<double>(change.to_width_) / std::max(change.from_width_, 1);
    change.y_from_y_ = static_cast<double>(change.to_height_) / std::max(change.from_height_, 1);
    change.filled_ = {0, 0, change.to_width_, change.to_height_};
    return change;
  }
#if GST_CHECK_VERSION(1, 28, 0)
  if (GST_VIDEO_META_TRANSFORM_IS_MATRIX(type)) {
    const auto* matrix = static_cast<const GstVideoMetaTransformMatrix*>(data);
    const auto element = [&](int row, int column) {
      return static_cast<double>(matrix->matrix[row][column]);
    };
    const bool is_upright = element(0, 1) == 0.0 && element(1, 0) == 0.0;
    const bool is_turned = element(0, 0) == 0.0 && element(1, 1) == 0.0;
    const bool is_affine = element(2, 0) == 0.0 && element(2, 1) == 0.0 && element(2, 2) == 1.0;
    if (!is_affine || is_upright == is_turned) return std::nullopt;
    set_sizes(*matrix->in_info, *matrix->out_info);
    const GstVideoRectangle& in = matrix->in_rectangle;
    const GstVideoRectangle& out = matrix->out_rectangle;
    // A matrix holds floats: the exact factor where it only scales.
    const auto factor = [](double value, int to_size, int from_size) {
      const double exact = static_cast<double>(to_size) / std::max(from_size, 1);
      return static_cast<float>(exact) == static_cast<float>(value) ? exact : value;
    };
    change.x_from_x_ = factor(element(0, 0), out.w, in.w);
    change.x_from_y_ = element(0, 1);
    change.y_from_x_ = element(1, 0);
    change.y_from_y_ = factor(element(1, 1), out.h, in.h);
    change.x_shift_ = element(0, 2) + out.x - change.x_from_x_ * in.x - change.x_from_y_ * in.y;
    change.y_shift_ = element(1, 2) + out.y - change.y_from_x_ * in.x - change.y_from_y_ * in.y;
    change.filled_ = clip({out.x, out.y, out.w, out.h}, change.to_width_, change.to_height_);
    return change;
  }
#endif
  return std::nullopt;
}

void PictureChange::point(double& x, double& y) const {
  const double before_x = x;
  x = x_from_x_ * before_x + x_from_y_ * y + x_shift_;
  y = y_from_x_ * before_x + y_from_y_ * y + y_shift_;
}

PictureChange::Corners PictureChange::corners(const Rect& before) const {
  Corners after = {static_cast<double>(before.x), static_cast<double>(before.y),
                   static_cast<double>(before.x) + before.width,
                   static_cast<double>(before.y) + before.height};
  point(after.left, after.top);
  point(after.right, after.bottom);
  return after;
}

std::optional<Rect> PictureChange::rect(const Rect& before) const {
  const auto [left, top, right, bottom] = corners(before);
  const auto inside = [](double low, double high, int start, int count, int* to_start,
                         int* to_count) {
    const auto pixel = [&](double place) {
      return static_cast<int>(std::lround(std::clamp<double>(place, start, start + count)));
    };
    if (low > high) std::swap(low, high);
    if (count <= 0 || !(low < start + count) || !(high > start)) return false;
    *to_start = std::min(pixel(low), start + count - 1);
    *to_count = std::max(pixel(high) - *to_start, 1);
    return true;
  };
  Rect after;
  if (!inside(left, right, filled_.x, filled_.width, &after.x, &after.width) ||
      !inside(top, bottom, filled_.y, filled_.height, &after.y, &after.height))
    return std::nullopt;
  return after;
}

Rect PictureChange::moved(const Rect& before) const {
  const auto [left, top, right, bottom] = corners(before);
  const auto pixel = [](double place) {
    return static_cast<int>(std::lround(std::clamp(place, -1.0e9, 1.0e9)));
  };
  const int x = std::min(pixel(left), pixel(right));
  const int y = std::min(pixel(top), pixel(bottom));
  return {x, y, std::max(pixel(left), pixel(right)) - x, std::max(pixel(top), pixel(bottom)) - y};
}

void PictureChange::relative_point(double& x, double& y) const {
  x *= from_width_;
  y *= from_height_;
  point(x, y);
  x /= std::max(to_width_, 1);
  y /= std::max(to_height_, 1);
}

void PictureChange::relative_box(double& x_min, double& y_min, double& x_max, double& y_max) const {
  relative_point(x_min, y_min);
  relative_point(x_max, y_max);
  if (x_min > x_max) std::swap(x_min, x_max);
  if (y_min > y_max) std::swap(y_min, y_max);
}

void PictureChange::point_of_rect(double& x, double& y) const {
  if (x_from_x_ == 0.0) std::swap(x, y);
  if (x_from_x_ < 0.0 || x_from_y_ < 0.0) x = 1.0 - x;
  if (y_from_y_ < 0.0 || y_from_x_ < 0.0) y = 1.0 - y;
}

bool PictureChange::keeps_relative_places() const {
  double x = 0.0;
  double y = 0.0;
  double right = 1.0;
  double bottom = 1.0;
  relative_point(x, y);
  relative_point(right, bottom);
  const auto is_near = [](double place, double wanted) { return std::abs(place - wanted) < 1e-9; };
  return is_near(x, 0.0) && is_near(y, 0.0) && is_near(right, 1.0) && is_near(bottom, 1.0);
}

}  // namespace het::gst
