#include "inference/decoders/activations.h"

#include <algorithm>
#include <cmath>

namespace het {

float sigmoid(float x) {
  return 1.0f / (1.0f + std::exp(-x));
}

void softmax(std::span<float> logits) {
  if (logits.empty()) return;
  const float largest = *std::max_element(logits.begin(), logits.end());
  float sum = 0.0f;
  for (float& value : logits) {
    value = std::exp(value - largest);
    sum += value;
  }
  for (float& value : logits) value /= sum;
}

BestClass best_class(const float* scores, size_t classes, size_t step) {
  BestClass best;
  for (size_t c = 0; c < classes; ++c) {
    const float score = scores[c * step];
    if (std::isnan(score) || (best.id >= 0 && !(score > best.score))) continue;
    best = {static_cast<int>(c), score};
  }
  return best;
}

}  // namespace het
