#pragma once

#include "inference/base/status.h"
#include "inference/tensors/shape.h"

namespace het {

/// The shape that ONNX' Reshape gives data of shape `input` for the content `wanted` of its shape
/// input: -1 is computed, 0 copies the input's dimension unless `allow_zero`.
Result<Shape> reshaped_shape(const Shape& input, const std::vector<int64_t>& wanted,
                             bool allow_zero);

}  // namespace het
