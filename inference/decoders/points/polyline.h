#pragma once

#include <string>
#include <utility>
#include <vector>

#include "inference/decoders/results.h"

namespace het {

/// A line through points in pixels of the source picture, in this order: keypoints whose
/// neighbours are joined. Points have no names.
inline Keypoints polyline(std::string format, std::string layer, std::vector<Point> points,
                          float confidence) {
  Keypoints line;
  line.format = std::move(format);
  line.layer = std::move(layer);
  line.confidence = confidence;
  line.landmarks.confidences.assign(points.size(), confidence);
  for (size_t i = 1; i < points.size(); ++i)
    line.landmarks.connections.emplace_back(static_cast<int>(i) - 1, static_cast<int>(i));
  line.landmarks.points = std::move(points);
  return line;
}

}  // namespace het
