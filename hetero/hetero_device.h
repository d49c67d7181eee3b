#pragma once

#include <memory>
#include <string_view>

#include "inference/base/status.h"
#include "inference/core.h"
#include "inference/devices/device.h"

namespace het::hetero {

/// "HETERO:GPU,CPU": one model over several devices. Without devices ("HETERO") it only has
/// properties.
Result<std::shared_ptr<Device>> make_hetero_device(Core& core, std::string_view arguments);

}  // namespace het::hetero
