#include "inference/decoders/detections.h"

#include <algorithm>

namespace het {

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
  const Point low = to_source(candidate.x_min, candidate.y_min, transform);
  const Point high = to_source(candidate.x_max, candidate.y_max, transform);
  Detection detection;
  detection.x_min = low.x;
  detection.y_min = low.y;
  detection.x_max = high.x;
  detection.y_max = high.y;
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
