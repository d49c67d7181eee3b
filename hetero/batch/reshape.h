#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "hetero/batch/item_flow.h"
#include "inference/base/status.h"
#include "inference/model/model.h"

namespace het::hetero {

/// A model that takes `batch` items where another takes one.
struct BatchedModel {
  std::unique_ptr<Model> model;
  std::vector<OutputCut> outputs;
};

/// A copy of a model for pictures (or whatever it takes) one by one that takes `batch` of them:
/// dimension 0 of every input, 1 so far, becomes `batch`. The copy is refused with NotSupported,
/// naming the port or the node, where an input has no such dimension, and where follow_items()
/// cannot keep the items apart.
Result<BatchedModel> reshape_to_batch(const Model& model, size_t batch);

}  // namespace het::hetero
