#pragma once

#include <memory>
#include <string_view>

#include "inference/base/status.h"
#include "inference/core.h"
#include "inference/devices/device.h"

namespace het::hetero {

/// "AUTO", "AUTO:GPU,CPU", "AUTO:-GPU": the first device that runs the model, and CPU until that
/// one is ready; with CUMULATIVE_THROUGHPUT all of them. Without a list: the devices of this
/// machine but REF. Listed devices that this machine lacks are left out with a warning.
Result<std::shared_ptr<Device>> make_auto_device(Core& core, std::string_view arguments);

}  // namespace het::hetero
