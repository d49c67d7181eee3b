#include "overlay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace het::gst {
namespace {

/// Sizes in pixels for a picture.
struct Style {
  int line_width;
  int dot_radius;
  int padding;
  double text_scale;
  int text_width;
};

Style style_for(int width, int height) {
  const int shorter = std::min(width, height);
  Style style;
  style.line_width = std::max(2, shorter / 240);
  style.dot_radius = std::max(2, shorter / 180);
  style.padding = std::max(2, shorter / 200);
  // FONT_HERSHEY_SIMPLEX capitals are 22 pixels high at scale 1; below 0.4 they cannot be read.
  style.text_scale = std::max(0.4, shorter / 1100.0);
  style.text_width = std::max(1, static_cast<int>(std::lround(style.text_scale * 2.4)));
  return style;
}

std::string with_confidence(const std::string& label, std::optional<double> confidence) {
  return confidence ? fmt::format("{} {:.2f}", label, *confidence) : label;
}

/// What is written at an object, one entry per line.
std::vector<std::string> lines_of(const FrameObject& object) {
  std::vector<std::string> lines;
  if (object.detection) {
    const auto& detection = *object.detection;
    const std::string name =
        object.type.empty() ? fmt::format("#{}", detection.label_id.value_or(0)) : object.type;
    lines.push_back(with_confidence(name, detection.confidence));
  } else if (!object.type.empty()) {
    lines.push_back(object.type);
  }
  for (const ObjectAttribute& attribute : object.attributes) {
    const std::string label =
        attribute.label.value_or(fmt::format("#{}", attribute.label_id.value_or(0)));
    lines.push_back(
        with_confidence(fmt::format("{}: {}", attribute.name, label), attribute.confidence));
  }
  return lines;
}

/// Lines in a filled box: above the object where there is room, else inside it at the top.
void draw_lines(Canvas& canvas, const std::vector<std::string>& lines, const cv::Rect& object,
                const Rgb& color, const Style& style) {
  if (lines.empty()) return;
  int text_width = 0;
  int line_height = 0;
  int below = 0;
  for (const std::string& line : lines) {
    const cv::Size size = Canvas::text_size(line, style.text_scale, style.text_width, &below);
    text_width = std::max(text_width, size.width);
    line_height = std::max(line_height, size.height + below + style.padding);
  }
  cv::Rect box(object.x, 0, text_width + 2 * style.padding,
               line_height * static_cast<int>(lines.size()) + style.padding);
  box.x = std::clamp(box.x, 0, std::max(0, canvas.width() - box.width));
  box.y = object.y >= box.height ? object.y - box.height : std::max(0, object.y);
  canvas.fill(box, color);
  int y = box.y;
  for (const std::string& line : lines) {
    y += line_height;
    canvas.text(line, {box.x + style.padding, y - below}, style.text_scale, style.text_width,
                color);
  }
}

/// Points far outside of a picture would overflow OpenCV's fixed-point coordinates.
int to_pixel(double relative, int size) {
  return static_cast<int>(std::lround(std::clamp(relative, -1.0, 2.0) * size));
}

}  // namespace

Rgb label_color(int label_id) {
  // Hues a golden angle apart; three levels of brightness tell ids with near hues apart.
  constexpr double kGoldenRatio = 0.618033988749895;
  constexpr std::array<double, 3> kValues{1.0, 0.8, 0.6};
  const double hue = std::fmod(0.05 + std::abs(label_id) * kGoldenRatio, 1.0) * 6.0;
  const double value = 255.0 * kValues[static_cast<size_t>(std::abs(label_id) / 8 % 3)];
  const double low = value * 0.2;
  const double rising = low + (value - low) * (hue - std::floor(hue));
  const double falling = value + low - rising;
  const auto rgb = [](double r, double g, double b) {
    return Rgb{static_cast<int>(r), static_cast<int>(g), static_cast<int>(b)};
  };
  switch (static_cast<int>(hue)) {
    case 0:
      return rgb(value, rising, low);
    case 1:
      return rgb(falling, value, low);
    case 2:
      return rgb(low, value, rising);
    case 3:
      return rgb(low, falling, value);
    case 4:
      return rgb(rising, low, value);
    default:
      return rgb(value, low, falling);
  }
}

void draw_objects(Canvas& canvas, const std::vector<FrameObject>& objects) {
  const Style style = style_for(canvas.width(), canvas.height());
  const auto color_of = [](const FrameObject& object) {
    return label_color(object.detection ? object.detection->label_id.value_or(0) : 0);
  };
  const auto rect_of = [](const FrameObject& object) {
    return cv::Rect(object.rect.x, object.rect.y, object.rect.width, object.rect.height);
  };
  // Texts last: no box runs through them.
  for (const FrameObject& object : objects) {
    const bool whole_picture = !object.detection && object.type.empty();
    if (!whole_picture) canvas.rectangle(rect_of(object), color_of(object), style.line_width);
    if (!object.landmarks) continue;
    for (size_t i = 0; i < object.landmarks->x.size(); ++i) {
      const cv::Point centre(to_pixel(object.landmarks->x[i], canvas.width()),
                             to_pixel(object.landmarks->y[i], canvas.height()));
      canvas.dot(centre, style.dot_radius, label_color(static_cast<int>(i) + 1));
    }
  }
  for (const FrameObject& object : objects) {
    draw_lines(canvas, lines_of(object), rect_of(object), color_of(object), style);
  }
}

}  // namespace het::gst
