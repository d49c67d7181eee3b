#include "inference/tracking/feature_gallery.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace het::tracking {

std::vector<float> normalised(std::vector<float> feature) {
  double sum = 0.0;
  for (float value : feature) sum += static_cast<double>(value) * static_cast<double>(value);
  const double length = std::sqrt(sum);
  if (!std::isfinite(length) || length <= 0.0) return {};
  for (float& value : feature) value = static_cast<float>(static_cast<double>(value) / length);
  return feature;
}

void FeatureGallery::add(const std::vector<float>& feature) {
  if (feature.empty()) return;
  if (budget_ == 0 || features_.size() < budget_) {
    features_.push_back(feature);
    return;
  }
  features_[oldest_] = feature;
  oldest_ = (oldest_ + 1) % budget_;
}

float FeatureGallery::distance(const std::vector<float>& feature) const {
  float least = std::numeric_limits<float>::infinity();
  for (const std::vector<float>& kept : features_) {
    if (feature.empty() || kept.size() != feature.size()) continue;
    const float cosine = std::inner_product(kept.begin(), kept.end(), feature.begin(), 0.0f);
    least = std::min(least, std::max(0.0f, 1.0f - cosine));
  }
  return least;
}

}  // namespace het::tracking
