#pragma once

#include <cstdint>

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/tensors/shape.h"

namespace het {

/// Attributes of ONNX' RoiAlign, and of OpenVINO's ROIAlign in the domain het.
struct RoiAlignAttributes {
  bool max = false;             ///< mode: the maximum of the samples instead of their average
  bool max_of_samples = false;  ///< of interpolated samples, not of weighted pixels
  double region_offset = 0;     ///< added to the regions' coordinates before they are scaled
  bool half_pixel = true;      ///< pixel centres lie at 0.5; else at 0 and regions are at least 1x1
  int64_t sampling_ratio = 0;  ///< samples per bin and dimension; 0: the bin's size rounded up
  double spatial_scale = 1;    ///< of the regions' coordinates to X's pixels
  Shape output_shape;          ///< [regions, channels, height, width]
};

/// `x` is [n, c, h, w], `rois` [regions, 4] with x1, y1, x2, y2, `batch_indices` [regions].
Result<RoiAlignAttributes> roi_align_attributes(const Node& node, const Shape& x, const Shape& rois,
                                                const Shape& batch_indices);

}  // namespace het
