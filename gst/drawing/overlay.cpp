#include "overlay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string>

namespace het::gst {
namespace {

/// An em at font-scale 1: its capitals are as high as those of gvawatermark's fonts, 22 pixels.
constexpr double kEmAtScale1 = 30.0;

/// Sizes in pixels for a picture.
struct Style {
  int line_width;
  int dot_radius;
  int padding;
  FontStyle font;
  bool text_background;
};

Style style_for(int width, int height, const OverlayStyle& wanted) {
  const int shorter = std::min(width, height);
  Style style;
  style.line_width = std::max(2, shorter / 240);
  style.dot_radius = std::max(2, shorter / 180);
  style.padding = std::max(2, shorter / 200);
  if (wanted.thickness) style.line_width = *wanted.thickness;
  // An em of 12 pixels can still be read.
  const double text_scale = std::max(0.4, shorter / 1100.0);
  style.font = {wanted.font, kEmAtScale1 * wanted.font_scale.value_or(text_scale)};
  style.text_background = wanted.text_background;
  return style;
}

std::string with_confidence(const std::string& label, std::optional<double> confidence) {
  return confidence ? fmt::format("{} {:.2f}", label, *confidence) : label;
}

/// A tracked object shows who it is.
std::string with_id(const std::string& label, const FrameObject& object) {
  return object.object_id ? fmt::format("{} id {}", label, *object.object_id) : label;
}

/// What is written at an object, one entry per line.
std::vector<std::string> lines_of(const FrameObject& object) {
  std::vector<std::string> lines;
  if (object.detection) {
    const auto& detection = *object.detection;
    const std::string name =
        object.type.empty() ? fmt::format("#{}", detection.label_id.value_or(0)) : object.type;
    lines.push_back(with_confidence(with_id(name, object), detection.confidence));
  } else if (!object.type.empty()) {
    lines.push_back(with_id(object.type, object));
  }
  for (const ObjectAttribute& attribute : object.attributes) {
    const std::string label =
        attribute.label.value_or(fmt::format("#{}", attribute.label_id.value_or(0)));
    // A text that was read stands for itself.
    lines.push_back(with_confidence(fmt::format("{}: {}", attribute.name, label),
                                    attribute.label_id ? attribute.confidence : std::nullopt));
  }
  return lines;
}

/// Lines in a filled box: above the object where there is room, else inside it at the top.
void draw_lines(Canvas& canvas, TextRenderer& texts, const std::vector<std::string>& lines,
                const Rect& object, const Rgb& color, const Style& style) {
  if (lines.empty()) return;
  std::vector<OpacityMap> letters;
  int text_width = 0;
  int line_height = 0;
  for (const std::string& line : lines) {
    const OpacityMap& rendered = letters.emplace_back(
        texts.render(line, style.font, canvas.width() - 2 * style.padding).opacity);
    text_width = std::max(text_width, rendered.width);
    line_height = std::max(line_height, rendered.height);
  }
  Rect box{object.x, 0, text_width + 2 * style.padding,
           line_height * static_cast<int>(lines.size()) + style.padding};
  box.x = std::clamp(box.x, 0, std::max(0, canvas.width() - box.width));
  box.y = object.y >= box.height ? object.y - box.height : std::max(0, object.y);
  if (style.text_background) canvas.fill(box, color);
  const Rgb background = style.text_background ? color : Rgb{0, 0, 0};
  int y = box.y + style.padding / 2;
  for (const OpacityMap& line : letters) {
    canvas.letters(line, {box.x + style.padding, y}, background);
    y += line_height;
  }
}

/// Points far outside of a picture, or none at all, come to where they do not matter.
int to_pixel(double relative, int size, int start = 0) {
  constexpr double kFar = 1 << 24;
  const double inside = relative >= -1.0 ? std::min(relative, 2.0) : -1.0;  // also NaN
  return static_cast<int>(std::lround(std::clamp(start + inside * size, -kFar, kFar)));
}

/// Classes that stand for "nothing" are not painted.
bool is_background(const ObjectSegmentation& segmentation, uint16_t class_id) {
  if (class_id != 0) return false;
  if (segmentation.labels.empty()) return true;
  const std::string& label = segmentation.labels.front();
  return label == "background" || label == "BG" || label == "__background__" || label.empty();
}

/// Colours the places of a grid that is stretched over a box (`places` has its corners, rows and
/// columns), inside the object; `color_at` gives the colour of a cell or null.
template <class Places, class ColorAt>
void draw_places(Canvas& canvas, const Rect& object, const Places& places, ColorAt color_at) {
  const double x_scale = places.columns() / ((places.x_max - places.x_min) * canvas.width());
  const double y_scale = places.rows() / ((places.y_max - places.y_min) * canvas.height());
  if (!(x_scale > 0.0) || !(y_scale > 0.0) || !std::isfinite(x_scale) || !std::isfinite(y_scale))
    return;
  const double x_start = places.x_min * canvas.width();
  const double y_start = places.y_min * canvas.height();
  const auto cell_of = [](int pixel, double start, double scale, int count) {
    const double cell = std::floor((pixel + 0.5 - start) * scale);
    return cell >= 0.0 && cell < count ? static_cast<int>(cell) : -1;
  };
  canvas.tint(object, [&](int x, int y) -> const Rgb* {
    const int column = cell_of(x, x_start, x_scale, places.columns());
    const int row = cell_of(y, y_start, y_scale, places.rows());
    if (column < 0 || row < 0) return nullptr;
    return color_at(static_cast<size_t>(row) * static_cast<size_t>(places.columns()) +
                    static_cast<size_t>(column));
  });
}

/// Colours each place by its class.
void draw_segmentation(Canvas& canvas, const Rect& object, const ObjectSegmentation& segmentation) {
  std::map<uint16_t, Rgb> colors;
  draw_places(canvas, object, segmentation, [&](size_t cell) -> const Rgb* {
    const uint16_t id = segmentation.class_id(cell);
    if (is_background(segmentation, id)) return nullptr;
    return &colors.try_emplace(id, label_color(id)).first->second;
  });
}

/// Colours what belongs to the object.
void draw_mask(Canvas& canvas, const Rect& object, const ObjectMask& mask, const Rgb& color) {
  draw_places(canvas, object, mask,
              [&](size_t cell) { return mask.covers(cell) ? &color : nullptr; });
}

/// The four sides of a box that is turned about its centre.
void draw_turned(Canvas& canvas, const ObjectDetection& detection, const Rgb& color,
                 const Style& style) {
  const double width = (detection.x_max - detection.x_min) * canvas.width();
  const double height = (detection.y_max - detection.y_min) * canvas.height();
  const double centre_x = (detection.x_min + detection.x_max) / 2.0 * canvas.width();
  const double centre_y = (detection.y_min + detection.y_max) / 2.0 * canvas.height();
  const double cosine = std::cos(detection.rotation);
  const double sine = std::sin(detection.rotation);
  const auto corner = [&](double x, double y) {
    return Position{to_pixel((centre_x + x * width * cosine - y * height * sine) / canvas.width(),
                             canvas.width()),
                    to_pixel((centre_y + x * width * sine + y * height * cosine) / canvas.height(),
                             canvas.height())};
  };
  const std::array<Position, 4> corners{corner(-0.5, -0.5), corner(0.5, -0.5), corner(0.5, 0.5),
                                        corner(-0.5, 0.5)};
  for (size_t i = 0; i < corners.size(); ++i)
    canvas.line(corners[i], corners[(i + 1) % corners.size()], style.line_width, color);
}

/// Points that are less sure have half the size.
constexpr double kSurePoint = 0.5;

/// A dot for each point and the lines between them; of a polyline, which has one colour, the line.
void draw_keypoints(Canvas& canvas, const Rect& object, const ObjectKeypoints& keypoints,
                    const std::optional<Rgb>& polyline, const Style& style) {
  const auto place = [&](size_t i) {
    return Position{to_pixel(static_cast<double>(keypoints.x(i)), object.width, object.x),
                    to_pixel(static_cast<double>(keypoints.y(i)), object.height, object.y)};
  };
  const auto color = [&](int point) { return polyline ? *polyline : label_color(point + 1); };
  for (const auto& [from, to] : keypoints.connections) {
    const auto a = static_cast<size_t>(from);
    const auto b = static_cast<size_t>(to);
    if (!keypoints.found(a) || !keypoints.found(b)) continue;
    canvas.line(place(a), place(b), style.line_width, color(from));
  }
  if (polyline) return;
  for (size_t i = 0; i < keypoints.size(); ++i) {
    if (!keypoints.found(i)) continue;
    const bool is_sure = keypoints.confidences[i] >= kSurePoint;
    canvas.dot(place(i), is_sure ? style.dot_radius : (style.dot_radius + 1) / 2,
               color(static_cast<int>(i)));
  }
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

void draw_label(Canvas& canvas, TextRenderer& texts, const std::string& text, const Rect& place,
                const Rgb& color, const OverlayStyle& wanted) {
  draw_lines(canvas, texts, {text}, place, color,
             style_for(canvas.width(), canvas.height(), wanted));
}

void draw_frame_text(Canvas& canvas, TextRenderer& texts, const std::string& text,
                     const OverlayStyle& wanted) {
  if (text.empty()) return;
  const Style style = style_for(canvas.width(), canvas.height(), wanted);
  const RenderedText rendered = texts.render(text, style.font, canvas.width());
  canvas.letters(rendered.opacity, {wanted.text_x, wanted.text_y - rendered.baseline},
                 wanted.color.value_or(Rgb{0, 0, 0}));
}

void draw_objects(Canvas& canvas, TextRenderer* texts, const std::vector<FrameObject>& all,
                  const OverlayStyle& wanted) {
  const Style style = style_for(canvas.width(), canvas.height(), wanted);
  std::vector<FrameObject> objects;
  std::copy_if(all.begin(), all.end(), std::back_inserter(objects),
               [&](const FrameObject& object) { return wanted.shown.takes(object.type); });
  const auto color_of = [&](const FrameObject& object) {
    if (wanted.color) return *wanted.color;
    return label_color(object.detection ? object.detection->label_id.value_or(0) : 0);
  };
  if (wanted.blur) {
    for (const FrameObject& object : all) {
      if (!is_whole_picture(object) && wanted.blurred.takes(object.type)) canvas.blur(object.rect);
    }
  }
  for (const FrameObject& object : objects) {
    for (const ObjectSegmentation& segmentation : object.tensors.segmentations)
      draw_segmentation(canvas, object.rect, segmentation);
    for (const ObjectMask& mask : object.tensors.masks)
      draw_mask(canvas, object.rect, mask, color_of(object));
  }
  // Texts last: no box runs through them.
  for (const FrameObject& object : objects) {
    if (object.detection && object.detection->rotation != 0.0 && wanted.turned) {
      draw_turned(canvas, *object.detection, color_of(object), style);
    } else if (!is_whole_picture(object)) {
      canvas.rectangle(object.rect, color_of(object), style.line_width);
    }
    int lines = 0;
    for (const ObjectKeypoints& keypoints : object.tensors.keypoints) {
      const std::string& format = keypoints.origin.format;
      std::optional<Rgb> polyline;
      if (format == "lane" || format == "line") polyline = label_color(++lines);
      draw_keypoints(canvas, object.rect, keypoints, polyline, style);
    }
    if (!object.landmarks) continue;
    for (size_t i = 0; i < object.landmarks->x.size(); ++i) {
      const Position centre{to_pixel(object.landmarks->x[i], canvas.width()),
                            to_pixel(object.landmarks->y[i], canvas.height())};
      canvas.dot(centre, style.dot_radius, label_color(static_cast<int>(i) + 1));
    }
  }
  for (const FrameObject& object : objects) {
    if (!wanted.show_labels || texts == nullptr) break;
    draw_lines(canvas, *texts, lines_of(object), object.rect, color_of(object), style);
  }
}

}  // namespace het::gst
