#pragma once

#include <string>
#include <vector>

#include "hetinference/c.h"
#include "inference/base/status.h"
#include "inference/devices/device.h"
#include "inference/tensors/tensor.h"

namespace het::c_interface {

/// Fills the caller's struct; name and shape stay where they are.
Status write_port(const std::string& name, const TensorDesc& desc, HetPort* out);
/// Port `index` of these; NotFound says how many "input"s there are.
Status write_port_of(const std::vector<Port>& ports, size_t index, const char* kind, HetPort* out);

}  // namespace het::c_interface
