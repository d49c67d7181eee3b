#pragma once

#include <memory>
#include <string_view>

#include "inference/base/status.h"
#include "inference/core.h"
#include "inference/devices/device.h"

namespace het::cpu {

/// The CPU device: oneDNN primitives and kernels of our own. `id` must be empty: it exists once.
Result<std::shared_ptr<Device>> make_device(Core& core, std::string_view id);

}  // namespace het::cpu
