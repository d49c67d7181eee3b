#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/core.h"
#include "inference/devices/device.h"

namespace het::gpu {

/// An OpenCL device: "GPU" is "GPU.0". Whether it exists is asked when it is used first, because
/// GPU_ALLOW_CPU may decide it; fails with NotFound for an id that is no number.
Result<std::shared_ptr<Device>> make_device(Core& core, std::string_view id);

/// What counts as GPU without asking for more: "" for one, "0", "1" ... for several.
std::vector<std::string> device_ids();

}  // namespace het::gpu
