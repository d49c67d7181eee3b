#pragma once

#include <string>
#include <vector>

#include "hetero/split/subgraph_splitter.h"
#include "inference/devices/device.h"
#include "inference/model/model.h"

namespace het::hetero {

/// A placement as JSON: model, devices with their numbers of nodes, and per node its name, type,
/// device, reason, original names and output types. Bytes that are not UTF-8 become U+FFFD.
std::string placement_to_json(const Model& model, const std::vector<NodeSupport>& rows);

/// A split as JSON: subgraphs with their nodes, sources of inputs, outputs and dependencies; cut
/// values with their bytes (null when known at run time only); sources of the model's outputs.
std::string split_to_json(const Model& model, const Split& split);

}  // namespace het::hetero
