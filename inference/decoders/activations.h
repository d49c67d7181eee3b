#pragma once

#include <cstddef>
#include <span>

namespace het {

/// 1 / (1 + exp(-x))
float sigmoid(float x);

/// Replaces logits by exp(x) / sum(exp(x)); nothing happens to an empty range.
void softmax(std::span<float> logits);

/// The greatest of a row of class scores; values that are no numbers never win.
struct BestClass {
  int id = -1;  ///< -1: none
  float score = 0.0f;
};
/// `step` is the distance of two classes' scores.
BestClass best_class(const float* scores, size_t classes, size_t step = 1);

}  // namespace het
