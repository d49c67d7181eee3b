#include "zone_overlay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "overlay.h"

namespace het::gst {
namespace {

constexpr Rgb kZoneColor{255, 200, 0};
constexpr Rgb kTripwireColor{255, 40, 40};
constexpr int kCircleCorners = 64;

/// What a shape says of how it is drawn, or the user, or the picture's size.
struct ShapeLook {
  Rgb color;
  int thickness;
};

ShapeLook look_of(const zones::Drawing& drawing, const Rgb& color, const Canvas& canvas,
                  const OverlayStyle& style) {
  const int fitting = std::max(2, std::min(canvas.width(), canvas.height()) / 240);
  ShapeLook look{color, drawing.thickness.value_or(style.thickness.value_or(fitting))};
  if (drawing.color) look.color = {(*drawing.color)[0], (*drawing.color)[1], (*drawing.color)[2]};
  return look;
}

/// Far outside of the picture is as good as farther.
int to_picture(double relative, int size) {
  const double inside = relative >= -10.0 ? std::min(relative, 10.0) : -10.0;  // also NaN
  return static_cast<int>(std::lround(inside * size));
}

Position corner(const Canvas& canvas, double x, double y) {
  return {to_picture(x, canvas.width()), to_picture(y, canvas.height())};
}

std::vector<Position> outline_of(const Canvas& canvas, const ZoneRecord::Zone& zone) {
  std::vector<Position> corners;
  if (!zone.is_circle) {
    for (size_t i = 0; i + 1 < zone.points.size(); i += 2)
      corners.push_back(corner(canvas, zone.points[i], zone.points[i + 1]));
    return corners;
  }
  for (int i = 0; i < kCircleCorners; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / kCircleCorners;
    corners.push_back(corner(canvas, zone.points[0] + zone.radius_x * std::cos(angle),
                             zone.points[1] + zone.radius_y * std::sin(angle)));
  }
  return corners;
}

/// From the middle of a line to its right.
void draw_arrow(Canvas& canvas, const Position& from, const Position& to, const ShapeLook& look) {
  const double dx = to.x - from.x;
  const double dy = to.y - from.y;
  const double length = std::hypot(dx, dy);
  if (!(length > 0.0)) return;
  const double reach = std::max(16.0, std::min(canvas.width(), canvas.height()) / 16.0);
  const double right_x = -dy / length;
  const double right_y = dx / length;
  const double middle_x = (from.x + to.x) / 2.0;
  const double middle_y = (from.y + to.y) / 2.0;
  const auto at = [&](double forward, double aside) {
    return Position{static_cast<int>(std::lround(middle_x + right_x * forward + right_y * aside)),
                    static_cast<int>(std::lround(middle_y + right_y * forward - right_x * aside))};
  };
  const Position tip = at(reach, 0.0);
  canvas.line(at(0.0, 0.0), tip, look.thickness, look.color);
  canvas.line(at(reach * 0.6, reach * 0.3), tip, look.thickness, look.color);
  canvas.line(at(reach * 0.6, -reach * 0.3), tip, look.thickness, look.color);
}

}  // namespace

void draw_zones(Canvas& canvas, TextRenderer* texts, const ZoneRecord& record,
                const OverlayStyle& style) {
  const bool has_texts = texts && style.show_labels;
  const auto label = [&](const std::string& text, const Position& at, const Rgb& color) {
    if (has_texts) draw_label(canvas, *texts, text, {at.x, at.y, 0, 0}, color, style);
  };
  for (const ZoneRecord::Zone& zone : record.zones) {
    if (!zone.is_drawn) continue;
    const ShapeLook look = look_of(zone.drawing, kZoneColor, canvas, style);
    const std::vector<Position> corners = outline_of(canvas, zone);
    for (size_t i = 0; i < corners.size(); ++i)
      canvas.line(corners[i], corners[(i + 1) % corners.size()], look.thickness, look.color);
    const auto top =
        std::min_element(corners.begin(), corners.end(),
                         [](const Position& a, const Position& b) { return a.y < b.y; });
    label(fmt::format("{}: {}", zone.id, zone.total().occupancy), *top, look.color);
  }
  for (const ZoneRecord::Tripwire& line : record.tripwires) {
    if (!line.is_drawn) continue;
    const ShapeLook look = look_of(line.drawing, kTripwireColor, canvas, style);
    const Position from = corner(canvas, line.points[0], line.points[1]);
    const Position to = corner(canvas, line.points[2], line.points[3]);
    canvas.line(from, to, look.thickness, look.color);
    draw_arrow(canvas, from, to, look);
    const zones::TripwireCounts counts = line.total();
    label(fmt::format("{}: +{} -{}", line.id, counts.forward, counts.backward), from, look.color);
  }
}

}  // namespace het::gst
