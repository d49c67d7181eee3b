#pragma once

#include <optional>

#include "devices/cpu/constant_scale.h"
#include "inference/model.h"
#include "inference/tensor.h"

namespace het::cpu {

/// True where sums of int8 products are exact: without VNNI pairs of products saturate at 16 bits.
bool has_exact_int8();

/// Constant weights as int8 around zero; `scale` has their zero points. Nothing when these differ
/// or when a value less its zero point does not fit: oneDNN has no zero points for weights.
std::optional<Tensor> int8_weights(const Tensor& weights, const ConstantScale& scale);

}  // namespace het::cpu
