#pragma once

#include <vector>

#include "inference/base/visibility.h"
#include "inference/devices/device.h"
#include "inference/model/model.h"

namespace het {

/// The ports of a model with inferred shapes, as its CompiledModel shows them.
HET_API std::vector<Port> input_ports(const Model& model);
HET_API std::vector<Port> output_ports(const Model& model);
/// Output ports with the sizes that the file declares in place of those that are known at run time
/// only: for who chooses by shapes, and checks the tensors again.
HET_API std::vector<Port> with_declared_sizes(std::vector<Port> outputs, const Model& model);

}  // namespace het
