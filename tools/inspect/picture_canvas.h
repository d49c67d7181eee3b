#pragma once

#include <cairo.h>

#include <functional>
#include <memory>
#include <string>

#include "inference/base/status.h"
#include "inference/decoders/results.h"
#include "inference/tensors/image.h"

namespace het {

/// Red, green and blue, 0..1.
struct Color {
  double r = 0.0;
  double g = 0.0;
  double b = 0.0;
};

/// In pixels of the picture, which it may leave.
struct CanvasBox {
  float x_min = 0.0f;
  float y_min = 0.0f;
  float x_max = 0.0f;
  float y_max = 0.0f;
};

/// A copy of a picture that is drawn on with cairo. Lines and letters grow with the picture.
/// Thread-bound.
class PictureCanvas {
 public:
  /// `picture` is BGR. Fails with NotFound where no font is installed, with NotSupported for sides
  /// that cairo does not have.
  static Result<std::unique_ptr<PictureCanvas>> create(const Image& picture);

  void line(const Point& from, const Point& to, const Color& color);
  void dot(const Point& centre, const Color& color);
  /// `rotation` in radians about the centre, clockwise as seen.
  void box(const CanvasBox& box, float rotation, const Color& color);
  /// Half of the colour in the cells that `covers`; the grid is stretched over the box, row by row.
  void blend(const CanvasBox& box, int columns, int rows, const Color& color,
             const std::function<bool(size_t cell)>& covers);
  /// Black letters on the colour, `at` is where their base line begins; moved into the picture.
  void text(const std::string& line, const Point& at, const Color& color);

  Result<std::string> png() const;

 private:
  using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;
  using Drawing = std::unique_ptr<cairo_t, decltype(&cairo_destroy)>;

  PictureCanvas(Surface surface, Drawing drawing);

  Surface surface_;
  Drawing drawing_;
  int width_;
  int height_;
  double scale_;      ///< of letters
  double thickness_;  ///< of lines, in pixels
};

}  // namespace het
