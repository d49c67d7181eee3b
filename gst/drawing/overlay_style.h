#pragma once

#include <optional>
#include <set>
#include <string>

#include "canvas.h"
#include "inference/base/status.h"

namespace het::gst {

/// Labels of objects that are meant: those of `only`, or where it is empty all but those of
/// `except`.
struct LabelFilter {
  bool takes(const std::string& label) const {
    return only.empty() ? !except.contains(label) : only.contains(label);
  }
  std::set<std::string> only;
  std::set<std::string> except;
};

/// What heterowatermark draws and how. What is not given follows from the picture's size and the
/// objects' classes.
struct OverlayStyle {
  bool show_labels = true;
  std::optional<double> font_scale;
  std::optional<int> thickness;  ///< of lines, in pixels
  std::optional<Rgb> color;      ///< of all objects
  std::string font = "simplex";  ///< see text_renderer
  bool text_background = true;   ///< false: white letters on the picture
  bool turned = true;            ///< false: the upright rectangle around a turned box
  LabelFilter shown;
  bool blur = false;
  LabelFilter blurred;
  int text_x = 0;          ///< where the text of the frame begins, in pixels
  int text_y = 25;         ///< its base line
  std::string frame_text;  ///< at most 20 characters
};

/// Reads displ-cfg: KEY=VALUE,KEY=VALUE with gvawatermark's keys and ranges. Fails with
/// InvalidArgument for what it does not know.
Result<OverlayStyle> parse_overlay_style(const std::string& text);

}  // namespace het::gst
