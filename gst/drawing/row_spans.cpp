#include "row_spans.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace het::gst {
namespace {

struct Segment {
  double x0;
  double y0;
  double x1;
  double y1;
};

/// Cuts a line off where it is more than `margin` outside of a picture (Liang and Barsky's
/// parametric clipping); false: nothing is left.
bool clip_segment(Segment& line, double width, double height, double margin) {
  const double dx = line.x1 - line.x0;
  const double dy = line.y1 - line.y0;
  double enter = 0.0;
  double leave = 1.0;
  const auto clip_side = [&](double direction, double distance) {
    if (direction == 0.0) return distance >= 0.0;
    const double at = distance / direction;
    if (direction < 0.0) {
      enter = std::max(enter, at);
    } else {
      leave = std::min(leave, at);
    }
    return enter <= leave;
  };
  if (!clip_side(-dx, line.x0 + margin) || !clip_side(dx, width + margin - line.x0) ||
      !clip_side(-dy, line.y0 + margin) || !clip_side(dy, height + margin - line.y0))
    return false;
  line = {line.x0 + enter * dx, line.y0 + enter * dy, line.x0 + leave * dx, line.y0 + leave * dy};
  return true;
}

int rounded(double value) {
  return static_cast<int>(std::floor(value + 0.5));
}

}  // namespace

/// Empty spans for those of these rows that the plane has.
void RowSpans::start(int top, int bottom) {
  top_ = std::max(0, top);
  const int last = std::min(height_ - 1, bottom);
  spans_.assign(static_cast<size_t>(std::max(0, last - top_ + 1)), {width_, -1});
}

void RowSpans::add(int first, int last, int y) {
  if (y < top_ || y >= top_ + static_cast<int>(spans_.size())) return;
  Span& span = spans_[static_cast<size_t>(y - top_)];
  span.first = std::min(span.first, std::max(0, first));
  span.last = std::max(span.last, std::min(width_ - 1, last));
}

void RowSpans::add_disc(const Position& centre, int radius) {
  if (spans_.empty()) start(centre.y - radius, centre.y + radius);
  int half = 0;
  for (int y = -radius; y <= radius; ++y) {
    while (half * half + y * y <= radius * radius) ++half;
    while (half * half + y * y > radius * radius) --half;
    add(centre.x - half, centre.x + half, centre.y + y);
  }
}

/// The pixels that a step of one along the longer axis comes to, and the last.
void RowSpans::add_edge(double x0, double y0, double x1, double y1) {
  const double length = std::max(std::abs(x1 - x0), std::abs(y1 - y0));
  // 32 bits of fraction; the half rounds.
  constexpr double kOne = 4294967296.0;
  const auto fixed = [](double value) { return static_cast<int64_t>(value * kOne); };
  const int64_t step_x = length > 0.0 ? fixed((x1 - x0) / length) : 0;
  const int64_t step_y = length > 0.0 ? fixed((y1 - y0) / length) : 0;
  int64_t x = fixed(x0 + 0.5);
  int64_t y = fixed(y0 + 0.5);
  for (int left = static_cast<int>(length); left >= 0; --left, x += step_x, y += step_y) {
    const int column = static_cast<int>(x >> 32);
    add(column, column, static_cast<int>(y >> 32));
  }
  add(rounded(x1), rounded(x1), rounded(y1));
}

void RowSpans::add_line(const Position& from, const Position& to, int line_width) {
  Segment line{static_cast<double>(from.x), static_cast<double>(from.y), static_cast<double>(to.x),
               static_cast<double>(to.y)};
  spans_.clear();
  if (!clip_segment(line, width_, height_, 2.0 * line_width + 1.0)) return;
  const auto& [x0, y0, x1, y1] = line;
  const int half = line_width > 1 ? (line_width + 1) / 2 : 0;
  start(rounded(std::min(y0, y1)) - half, rounded(std::max(y0, y1)) + half);
  if (half == 0) return add_edge(x0, y0, x1, y1);
  add_disc({rounded(x0), rounded(y0)}, half);
  add_disc({rounded(x1), rounded(y1)}, half);
  const double length = std::hypot(x1 - x0, y1 - y0);
  if (length == 0.0) return;
  const double side_x = (y1 - y0) * half / length;
  const double side_y = (x0 - x1) * half / length;
  add_edge(x0 + side_x, y0 + side_y, x1 + side_x, y1 + side_y);
  add_edge(x0 - side_x, y0 - side_y, x1 - side_x, y1 - side_y);
  add_edge(x0 - side_x, y0 - side_y, x0 + side_x, y0 + side_y);
  add_edge(x1 - side_x, y1 - side_y, x1 + side_x, y1 + side_y);
}

void RowSpans::fill(const Plane& plane, const Samples& samples) const {
  for (size_t i = 0; i < spans_.size(); ++i)
    fill_row(plane, top_ + static_cast<int>(i), spans_[i].first, spans_[i].last + 1, samples);
}

}  // namespace het::gst
