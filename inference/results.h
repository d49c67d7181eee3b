#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace het {

/// A point in pixels of the source picture.
struct Point {
  float x = 0.0f;
  float y = 0.0f;
};

/// Named points of an object, e.g. the five of a face.
struct Landmarks {
  std::vector<Point> points;
  std::vector<std::string> names;  ///< empty or one per point
};

/// One object found. The box is in pixels of the source picture, not clipped to it.
struct Detection {
  float x_min = 0.0f;
  float y_min = 0.0f;
  float x_max = 0.0f;
  float y_max = 0.0f;
  float confidence = 0.0f;
  int label_id = 0;
  std::string label;  ///< empty when there are no labels
  Landmarks landmarks;
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
