#pragma once

#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/model/model.h"

namespace het {

/// A node that cannot run anywhere and why; the message names the node already.
struct NodeFailure {
  const Node* node = nullptr;
  Status status;
};

/// Sorts the model and tells every value's type and shape, as far as they follow from the inputs'
/// and from constants. Nodes whose content is known on the way become constants (see
/// fold_constants.h), since shapes depend on it. An operator is only asked when all its present
/// inputs are static; otherwise, and where the shape depends on the data, the outputs stay
/// undefined and are sized at run time.
/// Fails with the first node that has no known operator or that its operator refuses. With
/// `failures` such nodes are listed there instead and their outputs stay undefined.
HET_API Status infer_shapes(Model& model, std::vector<NodeFailure>* failures = nullptr);

}  // namespace het
