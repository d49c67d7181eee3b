#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/decoders/decoder.h"
#include "inference/decoders/results.h"

namespace het {

/// What the points of a converter are called and which of them a line joins.
struct PointScheme {
  std::string format;
  std::vector<std::string> names;
  std::vector<std::pair<int, int>> connections;
};

/// The 17 points of a body as COCO numbers them; names, lines and format are DL Streamer's.
PointScheme coco_body();
/// The 18 points of a body as OpenPose numbers them for COCO, the same way.
PointScheme openpose_body();

/// The 33 points of a body as MediaPipe's BlazePose numbers them (the topology of its graphs).
PointScheme blaze_pose();
/// The 21 points of a hand as MediaPipe numbers them, from the wrist on, finger by finger.
PointScheme hand();

/// The scheme for `points` points (unknown: as many as the tensor will have): format, point_names
/// and point_connections of the descriptor, where they are given; else those of `standard` when it
/// has as many points. Fails when names are missing, too many or unknown to a connection.
Result<PointScheme> point_scheme(const DecoderConfig& config, int64_t points,
                                 const PointScheme& standard);

/// Keypoints with the scheme's names and lines and room for `points` points, none of them found.
Keypoints empty_keypoints(const PointScheme& scheme, std::string layer, size_t points);

/// Enters a point that was found, in pixels of the source picture.
void set_point(Keypoints& keypoints, size_t index, Point position, float confidence);

}  // namespace het
