#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "inference/base/status.h"

struct _PangoContext;

namespace het::gst {

/// How letters look; `name` is the value of displ-cfg's font-type, and the file says what it means.
struct FontStyle {
  std::string_view name = "simplex";
  double size = 12.0;  ///< of an em, in pixels
};

/// The names of all fonts, separated by commas.
std::string font_names();
bool is_font_name(std::string_view name);

/// A picture of opacities: 0 nothing, 255 all of a letter. Copies share the memory.
struct OpacityMap {
  int width = 0;
  int height = 0;
  size_t stride_bytes = 0;
  std::shared_ptr<uint8_t[]> data;

  const uint8_t* row(int y) const { return data.get() + static_cast<size_t>(y) * stride_bytes; }
  size_t size_bytes() const { return static_cast<size_t>(height) * stride_bytes; }
};

/// A line of text.
struct RenderedText {
  OpacityMap opacity;
  int baseline = 0;  ///< row of the base line
};

/// Renders lines of UTF-8 with Pango: any script, from right to left too, with the fonts that are
/// installed; a character that none of them has is a box with its code. Keeps what was rendered
/// last (about 4 MB). Thread-bound.
class TextRenderer {
 public:
  /// Fails with NotFound where no font is installed.
  static Result<std::unique_ptr<TextRenderer>> create();
  ~TextRenderer();
  TextRenderer(const TextRenderer&) = delete;
  TextRenderer& operator=(const TextRenderer&) = delete;

  /// What is no UTF-8, and every control character, becomes U+FFFD; tabs and ends of lines become
  /// spaces. What is wider than `max_width` pixels ends with an ellipsis.
  RenderedText render(const std::string& text, const FontStyle& style, int max_width);

 private:
  struct Entry {
    std::string key;
    RenderedText rendered;
  };
  explicit TextRenderer(_PangoContext* context) : context_(context) {}
  RenderedText lay_out(const std::string& text, const FontStyle& style, int max_width);

  _PangoContext* context_;
  std::list<Entry> entries_;  ///< the last used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_key_;  ///< keys of entries_
  size_t bytes_ = 0;                                                         ///< of all entries
};

}  // namespace het::gst
