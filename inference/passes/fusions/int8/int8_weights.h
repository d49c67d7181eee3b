#pragma once

#include <optional>

#include "inference/passes/fusions/constant_scale.h"
#include "inference/tensors/tensor.h"

namespace het {

/// What is multiplied is `content` less `zero`.
struct Int8Weights {
  Tensor content;
  int32_t zero = 0;
};
/// Constant weights as int8; `scale` has their zero points. The zero point that is left is 0 where
/// every value less its zero point fits. Nothing when the zero points differ.
std::optional<Int8Weights> int8_weights(const Tensor& weights, const ConstantScale& scale);

}  // namespace het
