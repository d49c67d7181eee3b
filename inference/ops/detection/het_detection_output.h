#pragma once

#include <cstdint>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/tensors/shape.h"

namespace het {

enum class BoxCode : uint8_t { Corner, CenterSize, CornerSize };

/// Attributes of DetectionOutput-1 and -8 and the sizes that follow from the input shapes.
struct DetectionOutputAttributes {
  int64_t images = 0;
  int64_t priors = 0;
  int64_t classes = 0;
  int64_t location_classes = 0;  ///< 1 with share_location, else classes
  int64_t prior_sets = 0;        ///< 1 or images
  int64_t background = 0;        ///< background_label_id; negative: none
  int64_t top_k = -1;       ///< candidates of a class (decrease_label_id: of an image); -1: all
  int64_t keep_top_k = -1;  ///< detections of an image; -1: all
  BoxCode code = BoxCode::Corner;
  bool variance_in_target = false;
  bool clip_before_nms = false;
  bool clip_after_nms = false;
  bool best_class_only = false;  ///< decrease_label_id: MXNet's way
  bool normalized = false;
  double input_width = 1;
  double input_height = 1;
  float nms_threshold = 0;
  float confidence_threshold = 0;
  float objectness_score = 0;
  Shape output_shape;  ///< [1, 1, detections, 7]

  int64_t prior_size() const { return normalized ? 4 : 5; }
};

/// `shapes` are those of the 3 or 5 inputs.
Result<DetectionOutputAttributes> detection_output_attributes(const Attributes& attributes,
                                                              const std::vector<Shape>& shapes);

}  // namespace het
