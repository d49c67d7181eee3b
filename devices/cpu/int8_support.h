#pragma once

#include <optional>

#include "devices/cpu/constant_scale.h"
#include "inference/model.h"
#include "inference/tensor.h"

namespace het::cpu {

/// True where oneDNN's sums of int8 products are exact: without VNNI its pairs of products saturate
/// at 16 bits.
bool has_exact_int8();
/// True where quantised products run on int8 kernels: oneDNN's, or with AVX2 our own.
bool computes_int8();

/// What is multiplied is `content` less `zero`.
struct Int8Weights {
  Tensor content;
  int32_t zero = 0;
};
/// Constant weights as int8; `scale` has their zero points. The zero point that is left is 0 where
/// every value less its zero point fits. Nothing when the zero points differ.
std::optional<Int8Weights> int8_weights(const Tensor& weights, const ConstantScale& scale);

}  // namespace het::cpu
