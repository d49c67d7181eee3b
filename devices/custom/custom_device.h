#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "devices/custom/device_library.h"
#include "inference/base/status.h"
#include "inference/devices/device.h"

namespace het::custom {

/// A device of a user's library: "NPU", or one of several, "NPU.1". Fails with NotFound and how
/// many there are, or with what the library says.
Result<std::shared_ptr<Device>> make_device(const DeviceLibrary& library, std::string_view id);

/// {""} for one device, else numbers.
std::vector<std::string> device_ids(const DeviceLibrary& library);

}  // namespace het::custom
