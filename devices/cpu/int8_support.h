#pragma once

#include <optional>

#include "devices/cpu/constant_scale.h"
#include "inference/model.h"
#include "inference/tensor.h"

namespace het::cpu {

/// True where sums of int8 products are exact: without VNNI pairs of products saturate at 16 bits.
bool has_exact_int8();

/// The weights (inputs 3 to 5) of a QLinearConv or QLinearMatMul as int8 around zero. Nothing when
/// they are computed at run time or when a value less its zero point does not fit: oneDNN has no
/// zero points for weights.
std::optional<Tensor> int8_weights(const Node& node);
/// True when int8_weights() has a result; makes none.
bool has_int8_weights(const Node& node);

}  // namespace het::cpu
