#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/core.h"
#include "inference/devices/device.h"

namespace het::vpu {

/// A device at the other end of a link: "VPU" is the first of vpu_addresses() that answers, "VPU.1"
/// the second whether it answers or not, "VPU.myriad" the first that has that profile. Fails with
/// NotFound where there is none.
Result<std::shared_ptr<Device>> make_device(Core& core, std::string_view id);

/// "" for one, "0", "1" ... for several; asks nobody whether they answer.
std::vector<std::string> device_ids();

}  // namespace het::vpu
