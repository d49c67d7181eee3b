#pragma once

#include <cstddef>
#include <string>

#include "inference/base/status.h"
#include "inference/custom_decoder.h"
#include "inference/tensors/tensor.h"

namespace het {

/// A dense tensor as the C interface shows it; it points into `tensor` and `name`. Fails on types
/// that the interface has no number for.
Result<HetTensorView> tensor_view(const std::string& name, const Tensor& tensor);

/// A copy of a tensor that a library hands over. Fails on unknown types, more than 8 dimensions,
/// sizes that do not agree and more than `limit_bytes`.
Result<Tensor> copy_tensor_view(const HetTensorView& view, size_t limit_bytes);

}  // namespace het
