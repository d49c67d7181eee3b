#pragma once

#include <string>
#include <vector>

#include "inference/decoders/descriptors/model_metadata.h"

namespace het {

/// The converter for outputs of Ultralytics' models: what they are (task, classes, points) is in
/// the metadata, how they are written in the shapes; empty where those fit nothing. The same
/// network is exported with rows or columns, with anchors, with suppression behind it or none.
std::string ultralytics_converter(const ModelMetadata& metadata, const std::vector<Port>& inputs,
                                  const std::vector<Port>& outputs,
                                  const std::vector<size_t>& selected);

}  // namespace het
