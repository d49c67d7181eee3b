#pragma once

#include <cstdint>
#include <vector>

#include "inference/ops/op.h"

namespace het {

/// One box per point of a grid, in pixels of the image.
struct PriorShape {
  double x = 0;  ///< centre, relative to the point
  double y = 0;
  double half_width = 0;
  double half_height = 0;
  bool inside = false;  ///< cut off at the image's borders whatever `clip` says
};

/// Points of the grid: point (row, column) lies at ((column + offset_x) * step_x, ...) pixels.
struct PriorGrid {
  int64_t height = 0;
  int64_t width = 0;
  double image_height = 0;
  double image_width = 0;
  double offset = 0.5;
  double step_x = 0;
  double step_y = 0;
  bool clip = false;  ///< every coordinate to [0, 1]
};

/// Checks the inputs output_size and image_size ([height, width], int32 or int64) and the
/// attributes `variance` (0, 1 or 4 values) and `output_type`, and sets the output
/// [2, 4 * height * width * priors] when output_size is known.
Status infer_priors(InferContext& context, int64_t priors_per_point);

/// Height, width and the image's size from the inputs of a node that infer_priors() accepted.
Result<PriorGrid> read_prior_grid(EvaluateContext& context);

/// Writes the boxes (x_min, y_min, x_max, y_max in parts of the image) of all points into the
/// first row, the variances into the second.
Status write_priors(EvaluateContext& context, const PriorGrid& grid,
                    const std::vector<PriorShape>& shapes);

}  // namespace het
