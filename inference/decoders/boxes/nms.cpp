#include "inference/decoders/boxes/nms.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace het {
namespace {

bool is_finite(const Candidate& c) {
  return std::isfinite(c.score) && std::isfinite(c.x_min) && std::isfinite(c.y_min) &&
         std::isfinite(c.x_max) && std::isfinite(c.y_max) && std::isfinite(c.rotation);
}

}  // namespace

Candidate centred_candidate(float centre_x, float centre_y, float width, float height, float score,
                            int label_id, int64_t row) {
  return {centre_x - width / 2.0f,
          centre_y - height / 2.0f,
          centre_x + width / 2.0f,
          centre_y + height / 2.0f,
          score,
          label_id,
          row};
}

bool is_label_id(float label) {
  constexpr float kMaxLabelId = 1e6f;
  return label >= 0.0f && label <= kMaxLabelId;
}

float intersection_over_union(const Candidate& a, const Candidate& b) {
  const float width = std::min(a.x_max, b.x_max) - std::max(a.x_min, b.x_min);
  const float height = std::min(a.y_max, b.y_max) - std::max(a.y_min, b.y_min);
  if (!(width > 0.0f) || !(height > 0.0f)) return 0.0f;
  const float intersection = width * height;
  const float area_a = (a.x_max - a.x_min) * (a.y_max - a.y_min);
  const float area_b = (b.x_max - b.x_min) * (b.y_max - b.y_min);
  const float all = area_a + area_b - intersection;
  return all > 0.0f ? intersection / all : 0.0f;
}

std::vector<Candidate> sorted_by_score(std::vector<Candidate> candidates) {
  std::erase_if(candidates, [](const Candidate& c) { return !is_finite(c); });
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
  if (candidates.size() > kMaxCandidates) candidates.resize(kMaxCandidates);
  return candidates;
}

std::vector<Candidate> non_maximum_suppression(std::vector<Candidate> candidates,
                                               float iou_threshold, Overlap overlap) {
  candidates = sorted_by_score(std::move(candidates));
  std::map<int, std::vector<size_t>> kept_of_class;
  std::vector<Candidate> kept;
  for (const Candidate& candidate : candidates) {
    std::vector<size_t>& rivals = kept_of_class[candidate.label_id];
    const bool suppressed = std::any_of(rivals.begin(), rivals.end(), [&](size_t rival) {
      return overlap(kept[rival], candidate) > iou_threshold;
    });
    if (suppressed) continue;
    rivals.push_back(kept.size());
    kept.push_back(candidate);
  }
  return kept;
}

std::vector<Candidate> fast_suppression(std::vector<Candidate> candidates, float iou_threshold,
                                        Overlap overlap) {
  candidates = sorted_by_score(std::move(candidates));
  std::map<int, std::vector<size_t>> of_class;
  std::vector<Candidate> kept;
  for (size_t i = 0; i < candidates.size(); ++i) {
    std::vector<size_t>& better = of_class[candidates[i].label_id];
    const bool suppressed = std::any_of(better.begin(), better.end(), [&](size_t rival) {
      return overlap(candidates[rival], candidates[i]) >= iou_threshold;
    });
    better.push_back(i);
    if (!suppressed) kept.push_back(candidates[i]);
  }
  return kept;
}

}  // namespace het
