#pragma once

#include <memory>
#include <utility>

#include "inference/model/model.h"

namespace het::python {

/// A model and the types and shapes that follow in it. Nodes and ports of Python hold it. Used with
/// the GIL only; what works without it takes a copy of the model first.
class Graph {
 public:
  explicit Graph(std::unique_ptr<Model> model) : model_(std::move(model)) {}

  Model& model() { return *model_; }
  /// As far as it is known, or follows from the inputs and constants.
  TensorDesc desc_of(const Value& value);
  /// Shapes or types have changed.
  void note_change() { inferred_.reset(); }

 private:
  std::unique_ptr<Model> model_;
  std::unique_ptr<Model> inferred_;  ///< a copy in which all that follows is known; null: not asked
};

}  // namespace het::python
