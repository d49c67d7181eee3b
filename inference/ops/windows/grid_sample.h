#pragma once

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/tensors/shape.h"

namespace het {

enum class GridInterpolation { Nearest, Linear, Cubic };
enum class GridPadding { Zeros, Border, Reflection };

/// GridSample's attributes; the names of opset 16, bilinear and bicubic, are understood too.
struct GridSampleAttributes {
  GridInterpolation mode = GridInterpolation::Linear;
  GridPadding padding = GridPadding::Zeros;
  bool align_corners = false;
  Shape output_shape;  ///< [n, c, spatial dimensions of the grid]
};

/// `x` is [n, c, spatial...] with one to three spatial dimensions, `grid` [n, spatial of the
/// output..., number of spatial dimensions], both static. The last dimension of the grid lists
/// positions innermost dimension first: x, y, z.
Result<GridSampleAttributes> grid_sample_attributes(const Node& node, const Shape& x,
                                                    const Shape& grid);

}  // namespace het
