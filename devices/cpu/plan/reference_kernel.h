#pragma once

#include <memory>
#include <vector>

#include "devices/cpu/plan/plan.h"
#include "inference/model/model.h"

namespace het::cpu {

/// How a reference step sees one operand.
struct ReferenceOperand {
  TensorId id = kNoTensor;  ///< kNoTensor: omitted, or an output that nobody reads
  TensorDesc desc;          ///< undefined: sized at run time
  Tensor constant;          ///< not empty: the content
};

/// A kernel that runs the operator's reference evaluate() on plain tensors. The node is copied.
std::unique_ptr<Kernel> make_reference_kernel(const Node& node,
                                              std::vector<ReferenceOperand> inputs,
                                              std::vector<ReferenceOperand> outputs);

}  // namespace het::cpu
