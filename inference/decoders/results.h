#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "inference/tensors/image.h"
#include "inference/tensors/tensor.h"

namespace het {

/// A point in pixels of the source picture.
struct Point {
  float x = 0.0f;
  float y = 0.0f;
};

/// Named points of an object: the five of a face, the joints of a body.
struct Landmarks {
  std::vector<Point> points;
  std::vector<std::string> names;                ///< empty or one per point
  std::vector<float> confidences;                ///< 0..1; empty or one per point
  std::vector<std::pair<int, int>> connections;  ///< indices of points that a line joins
};

/// How likely each part of a box belongs to its object: width x height values in 0..1, row by row,
/// stretched over the box; from 0.5 on a place belongs to it.
struct Mask {
  int width = 0;
  int height = 0;
  std::vector<float> values;

  bool empty() const { return values.empty(); }
};

/// One object found. The box is in pixels of the source picture, not clipped to it. With a rotation
/// the box is the object's before it is turned about its centre.
struct Detection {
  float x_min = 0.0f;
  float y_min = 0.0f;
  float x_max = 0.0f;
  float y_max = 0.0f;
  float confidence = 0.0f;
  int label_id = 0;
  std::string label;  ///< empty when there are no labels
  Landmarks landmarks;
  float rotation = 0.0f;  ///< radians, clockwise as seen on the picture
  Mask mask;              ///< empty unless the model segments objects
};

/// One attribute of a picture or of an object.
struct Classification {
  std::string attribute;  ///< e.g. "color"; the layer name when the descriptor gives none
  std::string label;      ///< empty when there are no labels
  int label_id = 0;       ///< kNoLabelId: the label is free text, such as a number that was read
  float confidence = 0.0f;
};

inline constexpr int kNoLabelId = -1;

/// The points of one body, hand or face in a picture or ROI, in pixels of the source picture. A
/// point that was not found has confidence 0 and lies at (-1, -1).
struct Keypoints {
  std::string format;  ///< which points these are, e.g. "body-pose/openpose-18"; may be empty
  std::string layer;   ///< the output that they were read from
  Landmarks landmarks;
  std::vector<float> depths;  ///< third coordinate in the model's units; empty or one per point
  float confidence = 0.0f;
};

/// The class of each place of a part of the source picture: width x height ids, row by row,
/// stretched over the box, which is in pixels of the source picture and may leave it.
struct Segmentation {
  std::string attribute;  ///< the layer name when the descriptor gives none
  std::string layer;
  float x_min = 0.0f;
  float y_min = 0.0f;
  float x_max = 0.0f;
  float y_max = 0.0f;
  int width = 0;
  int height = 0;
  std::vector<uint16_t> class_ids;
  std::vector<std::string> labels;  ///< by class id; may be empty
};

/// Values that the application reads itself: an output as it is, an embedding, a depth map.
struct TensorResult {
  std::string attribute;  ///< may be empty
  std::string layer;      ///< the output that they were read from
  /// What the values are: "cosine_distance" for an embedding, "depth_map" ...; empty: as the model
  /// gave them.
  std::string format;
  Tensor values;  ///< dense host memory of its own; the batch dimension, where there is one, is 1
};

/// A picture that a model made of a picture or ROI.
struct PictureResult {
  std::string attribute;  ///< the layer name when the descriptor gives none
  Image image;            ///< GRAY8, RGB or BGR in host memory of its own
};

/// What one decoder read from one picture or ROI.
struct Results {
  std::vector<Detection> detections;
  std::vector<Classification> classifications;
  std::vector<Keypoints> keypoints;
  std::vector<Segmentation> segmentations;
  std::vector<TensorResult> tensors;
  std::vector<PictureResult> pictures;
};

/// Moves everything of `part` to the end of `results`.
inline void append(Results& results, Results&& part) {
  const auto move_all = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  move_all(results.detections, part.detections);
  move_all(results.classifications, part.classifications);
  move_all(results.keypoints, part.keypoints);
  move_all(results.segmentations, part.segmentations);
  move_all(results.tensors, part.tensors);
  move_all(results.pictures, part.pictures);
}

}  // namespace het
