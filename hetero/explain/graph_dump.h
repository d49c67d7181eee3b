#pragma once

#include <string>
#include <vector>

#include "hetero/split/subgraph_splitter.h"
#include "inference/base/status.h"
#include "inference/devices/device.h"
#include "inference/model/model.h"

namespace het::hetero {

/// Writes `hetero_affinity_<model>.dot`, .svg and .json into the folder: the whole model with a row
/// of query_model() per node (device and reason), in the order of model.nodes(). Existing files are
/// replaced. The model's name becomes a safe file name. Returns the paths; fails with
/// InvalidArgument naming the file that cannot be written, or when the numbers of rows and nodes
/// differ.
Result<std::vector<std::string>> dump_affinity(const Model& model,
                                               const std::vector<NodeSupport>& rows,
                                               const std::string& folder = ".");

/// The same for `hetero_subgraphs_<model>.*`: the subgraphs and what crosses between them.
Result<std::vector<std::string>> dump_subgraphs(const Model& model, const Split& split,
                                                const std::string& folder = ".");

}  // namespace het::hetero
