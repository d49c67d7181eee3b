#pragma once

#include <memory>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/model.h"

namespace het {

/// The nodes that --stub names, in the model's order: texts are names of nodes (those of the file
/// too, where nodes were joined), operator types, or several of these with commas between. Fails
/// with NotFound for what fits no node, telling the nearest names.
Result<std::vector<const Node*>> find_stubs(const Model& model,
                                            const std::vector<std::string>& texts);

/// A copy of the model in which nodes of these names take no time: one whose only output is like
/// its only computed input is left out; of another, het.Stub has the place, which reads the inputs
/// and writes zeros. Fails with NotSupported for nodes that are sized at run time or keep state.
Result<std::unique_ptr<Model>> with_stubs(const Model& model,
                                          const std::vector<const Node*>& nodes);

}  // namespace het
