#pragma once

#include <list>
#include <memory>
#include <opencv2/core/mat.hpp>
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

/// A line of text as a picture of opacities.
struct RenderedText {
  cv::Mat opacity;   ///< CV_8U: 0 nothing, 255 all of a letter
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
