#pragma once

#include "hetero/batch/items.h"
#include "inference/tensors/tensor.h"

namespace het::hetero {

/// What a constant of the batched model holds, by its content and that in the model of one item
/// (null: there is none of its name): the same for all, one equal part per item, or sizes.
Items constant_items(const Tensor& batched, const Tensor* single, size_t batch);

}  // namespace het::hetero
