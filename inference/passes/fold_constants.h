#pragma once

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/model/model.h"

namespace het {

/// Evaluates a node whose content is known - all inputs are constants or have no elements, or it
/// asks for the Shape or Size of a value of static shape - and makes its outputs constants. Returns
/// true when it did. Not folded: nodes without a known operator, DequantizeLinear (int8 kernels
/// want its input), random operators, control flow, results of more than 16 MiB unless they are at
/// most four times their inputs, what takes more than 2^32 steps, and what the open FoldBudget does
/// not allow. The node itself stays, unused.
HET_API Result<bool> fold_node(Model& model, Node& node);

/// Makes outputs constants that have no elements, whatever the inputs are; for nodes all of whose
/// outputs are so, but not for state and control flow. Returns true when it did.
HET_API Result<bool> fold_empty_outputs(Model& model, Node& node);

/// Folds every node that can be, in the order of the model, which must be sorted; then removes what
/// is not used any more.
HET_API Status fold_constants(Model& model);

}  // namespace het
