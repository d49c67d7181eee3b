#pragma once

#include <cstdint>
#include <vector>

#include "inference/base/status.h"
#include "inference/tensors/tensor.h"

namespace het {

/// A region of an image of the batch; coordinates as the file has them.
struct Region {
  int64_t image = 0;
  double x_min = 0;
  double y_min = 0;
  double x_max = 0;
  double y_max = 0;
};

/// Rows [image, x_min, y_min, x_max, y_max] of a tensor [regions, 5], up to the first whose image
/// is -1: Proposal ends its list so. Fails on other images outside [0, images). Coordinates are
/// limited to +-1e9, NaN is 0.
Result<std::vector<Region>> read_regions(const Tensor& rois, int64_t images);

}  // namespace het
