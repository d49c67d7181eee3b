#include "text_renderer.h"

#include <fmt/format.h>
#include <pango/pangocairo.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace het::gst {
namespace {

constexpr size_t kMaxCachedBytes = 4 << 20;
/// What an entry takes besides its picture, roughly.
constexpr size_t kEntryBytes = 256;
/// A line of more characters is cut before it is laid out: no picture shows them.
constexpr glong kMaxCharacters = 1024;
constexpr gunichar kReplacement = 0xFFFD;

/// gvawatermark's names, which are those of OpenCV's Hershey fonts, as fonts of the same kind.
struct Font {
  std::string_view name;
  const char* family;
  PangoWeight weight;
  PangoStyle slant;
  double size;  ///< relative to the others
};
constexpr std::array<Font, 8> kFonts{
    {{"simplex", "Sans", PANGO_WEIGHT_NORMAL, PANGO_STYLE_NORMAL, 1.0},
     {"plain", "Sans", PANGO_WEIGHT_NORMAL, PANGO_STYLE_NORMAL, 0.6},
     {"duplex", "Sans", PANGO_WEIGHT_BOLD, PANGO_STYLE_NORMAL, 1.0},
     {"complex", "Serif", PANGO_WEIGHT_NORMAL, PANGO_STYLE_NORMAL, 1.0},
     {"triplex", "Serif", PANGO_WEIGHT_BOLD, PANGO_STYLE_NORMAL, 1.0},
     {"complex_small", "Serif", PANGO_WEIGHT_NORMAL, PANGO_STYLE_NORMAL, 0.8},
     {"script_simplex", "Cursive", PANGO_WEIGHT_NORMAL, PANGO_STYLE_ITALIC, 1.0},
     {"script_complex", "Cursive", PANGO_WEIGHT_BOLD, PANGO_STYLE_ITALIC, 1.0}}};

const Font& font_of(std::string_view name) {
  const auto found = std::find_if(kFonts.begin(), kFonts.end(),
                                  [&](const Font& font) { return font.name == name; });
  return found == kFonts.end() ? kFonts.front() : *found;
}

/// One line of valid UTF-8.
std::string as_line(const std::string& text) {
  gchar* valid = g_utf8_make_valid(text.data(), static_cast<gssize>(text.size()));
  GString* line = g_string_new(nullptr);
  glong count = 0;
  for (const gchar* at = valid; *at != '\0'; at = g_utf8_next_char(at)) {
    if (++count > kMaxCharacters) {
      g_string_append(line, "…");
      break;
    }
    const gunichar character = g_utf8_get_char(at);
    const bool is_blank = (character >= '\t' && character <= '\r') || character == 0x85 ||
                          character == 0x2028 || character == 0x2029;
    if (is_blank) {
      g_string_append_c(line, ' ');
    } else {
      g_string_append_unichar(line, g_unichar_iscntrl(character) ? kReplacement : character);
    }
  }
  std::string result(line->str, line->len);
  g_string_free(line, TRUE);
  g_free(valid);
  return result;
}

template <class T>
using Object = std::unique_ptr<T, decltype(&g_object_unref)>;

}  // namespace

std::string font_names() {
  std::string names;
  for (const Font& font : kFonts)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", font.name);
  return names;
}

bool is_font_name(std::string_view name) {
  return font_of(name).name == name;
}

Result<std::unique_ptr<TextRenderer>> TextRenderer::create() {
  const Object<PangoFontMap> fonts(pango_cairo_font_map_new(), g_object_unref);
  PangoContext* context = pango_font_map_create_context(fonts.get());
  PangoFontDescription* any = pango_font_description_from_string("Sans 12");
  PangoFont* font = pango_context_load_font(context, any);
  pango_font_description_free(any);
  if (font == nullptr) {
    g_object_unref(context);
    return error(StatusCode::NotFound,
                 "fontconfig finds no font to write labels with; install one (Debian's package "
                 "fonts-dejavu-core), or draw no labels (displ-cfg=show-labels=false)");
  }
  g_object_unref(font);
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_SLIGHT);
  pango_cairo_context_set_font_options(context, options);
  cairo_font_options_destroy(options);
  return std::unique_ptr<TextRenderer>(new TextRenderer(context));
}

TextRenderer::~TextRenderer() {
  g_object_unref(context_);
}

RenderedText TextRenderer::render(const std::string& text, const FontStyle& style, int max_width) {
  std::string key = fmt::format("{} {} {} {}", style.name, style.size, max_width, text);
  if (const auto known = by_key_.find(key); known != by_key_.end()) {
    entries_.splice(entries_.begin(), entries_, known->second);
    return known->second->rendered;
  }
  const auto bytes_of = [](const Entry& entry) {
    return entry.rendered.opacity.size_bytes() + entry.key.size() + kEntryBytes;
  };
  entries_.push_front({std::move(key), lay_out(as_line(text), style, max_width)});
  by_key_[entries_.front().key] = entries_.begin();
  bytes_ += bytes_of(entries_.front());
  while (bytes_ > kMaxCachedBytes && entries_.size() > 1) {
    by_key_.erase(entries_.back().key);
    bytes_ -= bytes_of(entries_.back());
    entries_.pop_back();
  }
  return entries_.front().rendered;
}

RenderedText TextRenderer::lay_out(const std::string& text, const FontStyle& style, int max_width) {
  const Font& font = font_of(style.name);
  PangoFontDescription* description = pango_font_description_new();
  pango_font_description_set_family_static(description, font.family);
  pango_font_description_set_weight(description, font.weight);
  pango_font_description_set_style(description, font.slant);
  pango_font_description_set_absolute_size(description, style.size * font.size * PANGO_SCALE);
  const Object<PangoLayout> layout(pango_layout_new(context_), g_object_unref);
  pango_layout_set_font_description(layout.get(), description);
  pango_font_description_free(description);
  pango_layout_set_text(layout.get(), text.data(), static_cast<int>(text.size()));
  pango_layout_set_width(layout.get(), std::max(max_width, 1) * PANGO_SCALE);
  pango_layout_set_ellipsize(layout.get(), PANGO_ELLIPSIZE_END);

  PangoRectangle ink;
  PangoRectangle logical;
  pango_layout_get_pixel_extents(layout.get(), &ink, &logical);
  // Slanted letters lean out of the line's end; marks that pile up above it are cut off.
  const int left = std::min(ink.x, logical.x);
  const int right = std::max(ink.x + ink.width, logical.x + logical.width);
  const int width = std::max(right - left, 1);
  const int height = std::max(logical.height, 1);
  RenderedText rendered;
  rendered.baseline = PANGO_PIXELS(pango_layout_get_baseline(layout.get())) - logical.y;
  const int stride = cairo_format_stride_for_width(CAIRO_FORMAT_A8, width);
  const size_t bytes = static_cast<size_t>(stride) * static_cast<size_t>(height);
  rendered.opacity = {width, height, static_cast<size_t>(stride),
                      std::make_shared<uint8_t[]>(bytes)};
  cairo_surface_t* surface = cairo_image_surface_create_for_data(
      rendered.opacity.data.get(), CAIRO_FORMAT_A8, width, height, stride);
  cairo_t* drawing = cairo_create(surface);
  cairo_move_to(drawing, -left, -logical.y);
  pango_cairo_show_layout(drawing, layout.get());
  cairo_destroy(drawing);
  cairo_surface_flush(surface);
  cairo_surface_destroy(surface);
  return rendered;
}

}  // namespace het::gst
