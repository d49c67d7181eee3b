#include "inference/decoders/boxes/detections.h"

#include <algorithm>
#include <cmath>

namespace het {
namespace {

/// A turned box in source pixels: its centre, and the images of its two axes. Where the picture was
/// stretched differently on both axes they are no longer square to each other; the angle is then
/// that of the box's width.
void place_turned(const Candidate& candidate, const PictureTransform& transform,
                  Detection& detection) {
  const Point centre = to_source((candidate.x_min + candidate.x_max) / 2.0f,
                                 (candidate.y_min + candidate.y_max) / 2.0f, transform);
  const float cosine = std::cos(candidate.rotation);
  const float sine = std::sin(candidate.rotation);
  const float half_width = (candidate.x_max - candidate.x_min) / 2.0f *
                           std::hypot(cosine * transform.scale_x, sine * transform.scale_y);
  const float half_height = (candidate.y_max - candidate.y_min) / 2.0f *
                            std::hypot(sine * transform.scale_x, cosine * transform.scale_y);
  detection.x_min = centre.x - half_width;
  detection.y_min = centre.y - half_height;
  detection.x_max = centre.x + half_width;
  detection.y_max = centre.y + half_height;
  detection.rotation = std::atan2(sine * transform.scale_y, cosine * transform.scale_x);
}

}  // namespace

float effective_threshold(const DecodeContext& context, const std::optional<float>& configured,
                          float decoder_default) {
  if (context.threshold > 0.0f) return context.threshold;
  return configured.value_or(decoder_default);
}

Point to_source(float x, float y, const PictureTransform& transform) {
  return {x * transform.scale_x + transform.offset_x, y * transform.scale_y + transform.offset_y};
}

Detection to_detection(const Candidate& candidate, const std::vector<std::string>& labels,
                       const PictureTransform& transform) {
  Detection detection;
  if (candidate.rotation == 0.0f) {
    const Point low = to_source(candidate.x_min, candidate.y_min, transform);
    const Point high = to_source(candidate.x_max, candidate.y_max, transform);
    detection.x_min = low.x;
    detection.y_min = low.y;
    detection.x_max = high.x;
    detection.y_max = high.y;
  } else {
    place_turned(candidate, transform, detection);
  }
  detection.confidence = candidate.score;
  detection.label_id = candidate.label_id;
  const auto id = static_cast<size_t>(std::max(candidate.label_id, 0));
  if (candidate.label_id >= 0 && id < labels.size()) detection.label = labels[id];
  return detection;
}

Results to_results(const std::vector<Candidate>& candidates, const std::vector<std::string>& labels,
                   const PictureTransform& transform) {
  Results results;
  results.detections.reserve(candidates.size());
  for (const Candidate& candidate : candidates)
    results.detections.push_back(to_detection(candidate, labels, transform));
  return results;
}

}  // namespace het
