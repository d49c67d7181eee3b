#pragma once

#include <string>

#include "inference/base/visibility.h"
#include "inference/model/model.h"

namespace het {

/// The model as text for tests and logs, in the order of its nodes: one line per input, per node
/// (`c = Conv(x, w) {group=1} : float32[1,8,4,4]`) and per output. Constants appear by name where
/// they are used, those of up to eight numbers with their content. Bodies of control flow follow
/// their node, indented.
HET_API std::string print_model(const Model& model);

/// What a node computes, without names: operator, attributes, descriptions of its inputs (constants
/// marked, small ones with their values) and outputs.
HET_API std::string node_signature(const Node& node);

}  // namespace het
