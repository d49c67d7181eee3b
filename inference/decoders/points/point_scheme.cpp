#include "inference/decoders/points/point_scheme.h"

#include <algorithm>
#include <cmath>

namespace het {
namespace {

Result<int> index_of(const DecoderConfig& config, const std::vector<std::string>& names,
                     const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  return error(StatusCode::InvalidArgument,
               "point_connections of converter '{}' names the point '{}', which is none of its {} "
               "points; write names of point_names",
               config.converter, name, names.size());
}

}  // namespace

PointScheme coco_body() {
  return {
      "body-pose/hrnet-coco-17",
      {"nose", "eye_l", "eye_r", "ear_l", "ear_r", "shoulder_l", "shoulder_r", "elbow_l", "elbow_r",
       "wrist_l", "wrist_r", "hip_l", "hip_r", "knee_l", "knee_r", "ankle_l", "ankle_r"},
      {{5, 6},
       {0, 1},
       {0, 2},
       {1, 3},
       {2, 4},
       {7, 5},
       {8, 6},
       {9, 7},
       {10, 8},
       {11, 13},
       {12, 14},
       {13, 15},
       {14, 16}}};
}

PointScheme openpose_body() {
  return {"body-pose/openpose-18",
          {"nose", "neck", "shoulder_r", "elbow_r", "wrist_r", "shoulder_l", "elbow_l", "wrist_l",
           "hip_r", "knee_r", "ankle_r", "hip_l", "knee_l", "ankle_l", "eye_r", "eye_l", "ear_r",
           "ear_l"},
          {{5, 2},
           {0, 15},
           {0, 14},
           {15, 17},
           {14, 16},
           {6, 5},
           {3, 2},
           {7, 6},
           {4, 3},
           {11, 12},
           {8, 9},
           {12, 13},
           {9, 10}}};
}

PointScheme blaze_pose() {
  return {
      "body-pose/mediapipe-33",
      {"nose",        "eye_inner_l", "eye_l",   "eye_outer_l", "eye_inner_r", "eye_r",
       "eye_outer_r", "ear_l",       "ear_r",   "mouth_l",     "mouth_r",     "shoulder_l",
       "shoulder_r",  "elbow_l",     "elbow_r", "wrist_l",     "wrist_r",     "pinky_l",
       "pinky_r",     "index_l",     "index_r", "thumb_l",     "thumb_r",     "hip_l",
       "hip_r",       "knee_l",      "knee_r",  "ankle_l",     "ankle_r",     "heel_l",
       "heel_r",      "foot_l",      "foot_r"},
      {{0, 2},   {2, 7},   {0, 5},   {5, 8},   {9, 10},  {11, 12}, {11, 13}, {13, 15}, {15, 17},
       {15, 19}, {15, 21}, {12, 14}, {14, 16}, {16, 18}, {16, 20}, {16, 22}, {11, 23}, {12, 24},
       {23, 24}, {23, 25}, {25, 27}, {27, 29}, {29, 31}, {24, 26}, {26, 28}, {28, 30}, {30, 32}}};
}

PointScheme hand() {
  PointScheme scheme{"hand/mediapipe-21", {"wrist"}, {}};
  for (const std::string finger : {"thumb", "index", "middle", "ring", "pinky"}) {
    int before = 0;  // every finger begins at the wrist
    for (const std::string joint : {"1", "2", "3", "4"}) {
      scheme.names.push_back(finger + "_" + joint);
      const int point = static_cast<int>(scheme.names.size()) - 1;
      scheme.connections.emplace_back(before, point);
      before = point;
    }
  }
  return scheme;
}

Result<PointScheme> point_scheme(const DecoderConfig& config, int64_t points,
                                 const PointScheme& standard) {
  PointScheme scheme;
  const auto count = static_cast<int64_t>(config.point_names.size());
  if (count > 0 && points != kUnknownDim && count != points)
    return error(StatusCode::ShapeMismatch, "converter '{}' finds {} points, point_names has {}",
                 config.converter, points, count);
  if (count > 0 && config.point_names != standard.names) {
    scheme.names = config.point_names;
  } else if (count > 0 || points == static_cast<int64_t>(standard.names.size())) {
    scheme = standard;
  }
  if (!config.format.empty()) scheme.format = config.format;
  if (config.point_connections.empty()) return scheme;
  scheme.connections.clear();
  for (size_t i = 0; i + 1 < config.point_connections.size(); i += 2) {
    HET_ASSIGN(const int from, index_of(config, scheme.names, config.point_connections[i]));
    HET_ASSIGN(const int to, index_of(config, scheme.names, config.point_connections[i + 1]));
    scheme.connections.emplace_back(from, to);
  }
  return scheme;
}

Keypoints empty_keypoints(const PointScheme& scheme, std::string layer, size_t points) {
  Keypoints keypoints;
  keypoints.format = scheme.format;
  keypoints.layer = std::move(layer);
  keypoints.landmarks.points.assign(points, {-1.0f, -1.0f});
  keypoints.landmarks.confidences.assign(points, 0.0f);
  if (scheme.names.size() == points) {
    keypoints.landmarks.names = scheme.names;
    keypoints.landmarks.connections = scheme.connections;
  }
  return keypoints;
}

void set_point(Keypoints& keypoints, size_t index, Point position, float confidence) {
  if (!std::isfinite(position.x) || !std::isfinite(position.y) || !(confidence > 0.0f)) return;
  keypoints.landmarks.points[index] = position;
  keypoints.landmarks.confidences[index] = std::min(confidence, 1.0f);
}

}  // namespace het
