#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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
  int label_id = 0;
  float confidence = 0.0f;
};

/// What one decoder read from one picture or ROI.
struct Results {
  std::vector<Detection> detections;
  std::vector<Classification> classifications;
};

}  // namespace het
