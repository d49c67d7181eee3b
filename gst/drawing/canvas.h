#pragma once

#include <gst/video/video.h>

#include <array>
#include <functional>
#include <vector>

#include "plane.h"
#include "row_spans.h"
#include "text_renderer.h"

namespace het::gst {

struct Rgb {
  int r = 0;
  int g = 0;
  int b = 0;
};

/// What red and blue weigh in luma; green has the rest.
struct LumaWeights {
  double red = 0.299;
  double blue = 0.114;
};

/// Draws on the planes of a frame that is mapped for writing, in the frame's own format: on YUV in
/// the luma plane and, with half the coordinates, in the chroma planes. Coordinates are pixels of
/// the frame; what lies outside is cut off. Thread-bound.
class Canvas {
 public:
  /// The frame must outlive the canvas. Its format is one of HET_GST_CANVAS_FORMATS; samples of
  /// P010 and pairs of YUY2 and UYVY are not drawn on.
  explicit Canvas(GstVideoFrame& frame);

#define HET_GST_CANVAS_FORMATS \
  "{ NV12, I420, RGB, BGR, RGBx, BGRx, RGBA, BGRA, RGBP, BGRP, GBR, GRAY8 }"

  int width() const {
    return width_;
  }
  int height() const {
    return height_;
  }
  void rectangle(const Rect& rect, const Rgb& color, int line_width);
  void fill(const Rect& rect, const Rgb& color);
  void line(const Position& from, const Position& to, int line_width, const Rgb& color);
  /// Mixes colours into a part of the picture: of each pixel `color_at(x, y)` says which, or null.
  void tint(const Rect& rect, const std::function<const Rgb*(int x, int y)>& color_at);
  void dot(const Position& centre, int radius, const Rgb& color);
  /// Black or white letters, whichever read better on `background`, which shall be filled already.
  /// The upper left corner of `opacity` comes to `place`.
  void letters(const OpacityMap& opacity, const Position& place, const Rgb& background);
  /// Makes a part of the picture unrecognisable: each pixel becomes the mean of its surroundings,
  /// a third of the part.
  void blur(const Rect& rect);

 private:
  void add_plane(GstVideoFrame& frame, int index, int channels, int shift,
                 std::array<int, 4> components);
  /// The colour in the components of the frame: RGBA, or YUV by its matrix and range.
  std::array<double, 4> components_of(const Rgb& color) const;
  Samples samples(const Plane& plane, const Rgb& color) const;

  int width_;
  int height_;
  bool yuv_;
  LumaWeights luma_weights_;
  bool full_range_;
  std::vector<Plane> planes_;
};

}  // namespace het::gst
