#include "tools/inspect/picture_canvas.h"

#include <pango/pangocairo.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace het {
namespace {

/// An em at scale 1.
constexpr double kEm = 30.0;
/// The sides that cairo's coordinates have room for.
constexpr int kMaxSide = 32767;

template <class T>
using Object = std::unique_ptr<T, decltype(&g_object_unref)>;

/// Pango ends a program that asks it for a line and has no font.
bool has_font(PangoContext* context) {
  PangoFontDescription* const any = pango_font_description_from_string("Sans 12");
  const Object<PangoFont> font(pango_context_load_font(context, any), g_object_unref);
  pango_font_description_free(any);
  return font != nullptr;
}

/// Where far outside of the picture it does not matter.
double near(float value) {
  constexpr double kFar = 1e5;
  return std::isnan(value) ? -kFar : std::clamp(static_cast<double>(value), -kFar, kFar);
}

cairo_status_t append(void* text, const unsigned char* data, unsigned int size) {
  static_cast<std::string*>(text)->append(reinterpret_cast<const char*>(data), size);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

Result<std::unique_ptr<PictureCanvas>> PictureCanvas::create(const Image& picture) {
  if (std::max(picture.width, picture.height) > kMaxSide) {
    return error(StatusCode::NotSupported,
                 "a picture of {} x {} pixels is not drawn on; each side may have {}",
                 picture.width, picture.height, kMaxSide);
  }
  Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, picture.width, picture.height),
                  cairo_surface_destroy);
  if (const cairo_status_t status = cairo_surface_status(surface.get())) {
    return error(StatusCode::OutOfMemory, "a picture of {} x {} pixels cannot be drawn on: {}",
                 picture.width, picture.height, cairo_status_to_string(status));
  }
  const int stride = cairo_image_surface_get_stride(surface.get());
  unsigned char* const rows = cairo_image_surface_get_data(surface.get());
  for (int y = 0; y < picture.height; ++y) {
    const auto* from =
        reinterpret_cast<const uint8_t*>(picture.plane(0) + y * picture.planes[0].stride_bytes);
    auto* const to = reinterpret_cast<uint32_t*>(rows + int64_t{y} * stride);
    for (int x = 0; x < picture.width; ++x, from += 3)
      to[x] = static_cast<uint32_t>(from[2] << 16 | from[1] << 8 | from[0]);
  }
  cairo_surface_mark_dirty(surface.get());
  Drawing drawing(cairo_create(surface.get()), cairo_destroy);
  const Object<PangoContext> context(pango_cairo_create_context(drawing.get()), g_object_unref);
  if (!has_font(context.get())) {
    return error(StatusCode::NotFound,
                 "fontconfig finds no font to write labels with; install one (Debian's package "
                 "fonts-dejavu-core)");
  }
  return std::unique_ptr<PictureCanvas>(new PictureCanvas(std::move(surface), std::move(drawing)));
}

PictureCanvas::PictureCanvas(Surface surface, Drawing drawing)
    : surface_(std::move(surface)),
      drawing_(std::move(drawing)),
      width_(cairo_image_surface_get_width(surface_.get())),
      height_(cairo_image_surface_get_height(surface_.get())),
      scale_(std::max(0.4, std::max(width_, height_) / 1200.0)),
      thickness_(std::max(1.0, std::floor(2.0 * scale_))) {
  cairo_set_line_width(drawing_.get(), thickness_);
  cairo_set_line_cap(drawing_.get(), CAIRO_LINE_CAP_ROUND);
  cairo_set_line_join(drawing_.get(), CAIRO_LINE_JOIN_ROUND);
}

void PictureCanvas::line(const Point& from, const Point& to, const Color& color) {
  cairo_set_source_rgb(drawing_.get(), color.r, color.g, color.b);
  cairo_move_to(drawing_.get(), near(from.x), near(from.y));
  cairo_line_to(drawing_.get(), near(to.x), near(to.y));
  cairo_stroke(drawing_.get());
}

void PictureCanvas::dot(const Point& centre, const Color& color) {
  cairo_set_source_rgb(drawing_.get(), color.r, color.g, color.b);
  cairo_arc(drawing_.get(), near(centre.x), near(centre.y), thickness_ + 1.0, 0.0,
            2.0 * std::numbers::pi);
  cairo_fill(drawing_.get());
}

void PictureCanvas::box(const CanvasBox& box, float rotation, const Color& color) {
  const double half_width = (near(box.x_max) - near(box.x_min)) / 2.0;
  const double half_height = (near(box.y_max) - near(box.y_min)) / 2.0;
  cairo_set_source_rgb(drawing_.get(), color.r, color.g, color.b);
  cairo_save(drawing_.get());
  cairo_translate(drawing_.get(), near(box.x_min) + half_width, near(box.y_min) + half_height);
  if (std::isfinite(rotation)) cairo_rotate(drawing_.get(), static_cast<double>(rotation));
  cairo_rectangle(drawing_.get(), -half_width, -half_height, 2.0 * half_width, 2.0 * half_height);
  cairo_restore(drawing_.get());
  cairo_stroke(drawing_.get());
}

void PictureCanvas::blend(const CanvasBox& box, int columns, int rows, const Color& color,
                          const std::function<bool(size_t cell)>& covers) {
  const double x_scale = columns / std::max(1.0, near(box.x_max) - near(box.x_min));
  const double y_scale = rows / std::max(1.0, near(box.y_max) - near(box.y_min));
  const int x_min = static_cast<int>(near(box.x_min));
  const int y_min = static_cast<int>(near(box.y_min));
  const int x_end = std::min(width_, static_cast<int>(x_min + columns / x_scale));
  const int y_end = std::min(height_, static_cast<int>(y_min + rows / y_scale));
  const auto level = [](double share) { return static_cast<uint32_t>(std::lround(share * 255.0)); };
  const uint32_t other = level(color.r) << 16 | level(color.g) << 8 | level(color.b);
  cairo_surface_flush(surface_.get());
  unsigned char* const pixels = cairo_image_surface_get_data(surface_.get());
  for (int y = std::max(0, y_min); y < y_end; ++y) {
    const int row = std::min(rows - 1, static_cast<int>((y - y_min) * y_scale));
    auto* const to = reinterpret_cast<uint32_t*>(
        pixels + int64_t{y} * cairo_image_surface_get_stride(surface_.get()));
    for (int x = std::max(0, x_min); x < x_end; ++x) {
      const int column = std::min(columns - 1, static_cast<int>((x - x_min) * x_scale));
      if (!covers(static_cast<size_t>(row) * static_cast<size_t>(columns) +
                  static_cast<size_t>(column)))
        continue;
      // The mean of each byte.
      to[x] = (to[x] & other) + (((to[x] ^ other) & 0xfefefe) >> 1);
    }
  }
  cairo_surface_mark_dirty(surface_.get());
}

void PictureCanvas::text(const std::string& line, const Point& at, const Color& color) {
  const Object<PangoLayout> layout(pango_cairo_create_layout(drawing_.get()), g_object_unref);
  PangoFontDescription* const font = pango_font_description_from_string("Sans");
  pango_font_description_set_absolute_size(font, kEm * scale_ * PANGO_SCALE);
  pango_layout_set_font_description(layout.get(), font);
  pango_font_description_free(font);
  pango_layout_set_single_paragraph_mode(layout.get(), TRUE);
  gchar* const valid = g_utf8_make_valid(line.data(), static_cast<gssize>(line.size()));
  pango_layout_set_text(layout.get(), valid, -1);
  g_free(valid);
  int text_width = 0;
  int text_height = 0;
  pango_layout_get_pixel_size(layout.get(), &text_width, &text_height);
  const int base = PANGO_PIXELS(pango_layout_get_baseline(layout.get()));
  const double x =
      std::clamp(std::floor(near(at.x)), 0.0, std::max(0.0, 1.0 * width_ - text_width));
  const double y =
      std::clamp(std::floor(near(at.y)) - base, 0.0, std::max(0.0, 1.0 * height_ - text_height));
  cairo_set_source_rgb(drawing_.get(), color.r, color.g, color.b);
  cairo_rectangle(drawing_.get(), x, y, text_width, text_height);
  cairo_fill(drawing_.get());
  cairo_set_source_rgb(drawing_.get(), 0.0, 0.0, 0.0);
  cairo_move_to(drawing_.get(), x, y);
  pango_cairo_show_layout(drawing_.get(), layout.get());
}

Result<std::string> PictureCanvas::png() const {
  std::string bytes;
  cairo_surface_flush(surface_.get());
  if (const cairo_status_t status =
          cairo_surface_write_to_png_stream(surface_.get(), append, &bytes))
    return error(StatusCode::Internal, "cannot make a PNG: {}", cairo_status_to_string(status));
  return bytes;
}

}  // namespace het
