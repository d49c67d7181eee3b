#include "python/bindings/graph.h"

#include <vector>

#include "inference/passes/infer_shapes.h"

namespace het::python {

TensorDesc Graph::desc_of(const Value& value) {
  if (value.desc().is_static() || value.is_input() || value.is_constant()) return value.desc();
  if (inferred_ == nullptr) {
    inferred_ = model_->clone();
    std::vector<NodeFailure> failures;
    // A failure leaves what follows unknown, as it is told here; compiling reports it.
    (void)infer_shapes(*inferred_, &failures);
  }
  const Value* const found = inferred_->find_value(value.name());
  return found == nullptr ? value.desc() : found->desc();
}

}  // namespace het::python
