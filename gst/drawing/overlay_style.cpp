#include "overlay_style.h"

#include <glib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "inference/devices/properties.h"
#include "text_renderer.h"

namespace het::gst {
namespace {

constexpr glong kMaxFrameText = 20;
constexpr std::array<Rgb, 3> kColors{Rgb{255, 0, 0}, Rgb{0, 255, 0}, Rgb{0, 0, 255}};

template <class T>
Status read_number(std::string_view key, const std::string& text, T low, T high, T& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc() && end == text.data() + text.size() && number >= low && number <= high)
    return {};
  return error(StatusCode::InvalidArgument, "{}='{}' is no number from {} to {}", key, text, low,
               high);
}

Status read_flag(std::string_view key, const std::string& text, bool& flag) {
  flag = text == "true" || text == "1";
  if (flag || text == "false" || text == "0") return {};
  return error(StatusCode::InvalidArgument, "{}='{}' is neither true nor false", key, text);
}

std::set<std::string> read_labels(std::string_view text) {
  std::set<std::string> labels;
  while (!text.empty()) {
    const size_t colon = std::min(text.find(':'), text.size());
    if (colon > 0) labels.emplace(text.substr(0, colon));
    text.remove_prefix(std::min(colon + 1, text.size()));
  }
  return labels;
}

Status read_font(const std::string& text, std::string& font) {
  if (!is_font_name(text))
    return error(StatusCode::InvalidArgument, "font-type='{}' is none of {}", text, font_names());
  font = text;
  return {};
}

/// Never a part of a character.
std::string first_characters(const std::string& text, glong limit) {
  gchar* valid = g_utf8_make_valid(text.data(), static_cast<gssize>(text.size()));
  const std::string first(
      valid, g_utf8_offset_to_pointer(valid, std::min(g_utf8_strlen(valid, -1), limit)));
  g_free(valid);
  return first;
}

Status read_key(const std::string& key, const std::string& value, OverlayStyle& style) {
  if (key == "show-labels") return read_flag(key, value, style.show_labels);
  if (key == "draw-txt-bg") return read_flag(key, value, style.text_background);
  if (key == "enable-blur") return read_flag(key, value, style.blur);
  if (key == "font-type") return read_font(value, style.font);
  if (key == "font-scale") return read_number(key, value, 0.1, 2.0, style.font_scale.emplace());
  if (key == "thickness") return read_number(key, value, 1, 100, style.thickness.emplace());
  if (key == "text-x") return read_number(key, value, 0, 65535, style.text_x);
  if (key == "text-y") return read_number(key, value, 0, 65535, style.text_y);
  if (key == "show-roi") {
    style.shown.only = read_labels(value);
  } else if (key == "hide-roi") {
    style.shown.except = read_labels(value);
  } else if (key == "show-blur-roi") {
    style.blurred.only = read_labels(value);
  } else if (key == "hide-blur-roi") {
    style.blurred.except = read_labels(value);
  } else if (key == "ff-custom-txt") {
    style.frame_text = first_characters(value, kMaxFrameText);
  } else if (key == "color-idx") {
    int index = -1;
    HET_TRY(read_number(key, value, -1, 2, index));
    if (index >= 0) style.color = kColors[static_cast<size_t>(index)];
  } else {
    return error(StatusCode::InvalidArgument,
                 "'{}' is none of show-labels, font-scale, thickness, color-idx, font-type, "
                 "draw-txt-bg, show-roi, hide-roi, enable-blur, show-blur-roi, hide-blur-roi, "
                 "text-x, text-y, ff-custom-txt",
                 key);
  }
  return {};
}

}  // namespace

Result<OverlayStyle> parse_overlay_style(const std::string& text) {
  OverlayStyle style;
  if (text.empty()) return style;
  HET_ASSIGN(const Properties keys, parse_properties(text));
  for (const auto& [key, value] : keys) HET_TRY(read_key(key, value, style));
  return style;
}

}  // namespace het::gst
