#pragma once

#include <cstddef>
#include <memory>

#include "inference/base/status.h"
#include "inference/model/model.h"

namespace het::hetero {

/// A copy of a model for pictures (or whatever it takes) one by one that takes `batch` of them:
/// dimension 0 of every input, 1 so far, becomes `batch`. Shapes are inferred for both, and the
/// copy is refused with NotSupported, naming the port or the node, where an input has no such
/// dimension, where an output does not grow like the inputs, or where a value on the way shows that
/// items of a batch would not be computed one independently of the other.
Result<std::unique_ptr<Model>> reshape_to_batch(const Model& model, size_t batch);

}  // namespace het::hetero
