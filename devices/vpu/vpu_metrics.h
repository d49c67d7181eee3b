#pragma once

#include <string>
#include <string_view>

#include "devices/vpu/connection.h"
#include "inference/base/status.h"

namespace het::vpu {

/// Properties that the device itself is asked for: FULL_DEVICE_NAME, its memory, and the metrics of
/// OpenVINO's HDDL plugin (HDDL_DEVICE_...), one value a unit, separated by blanks.
bool is_metric(std::string_view name);
Result<std::string> metric(Connection& connection, const std::string& device,
                           std::string_view name);

}  // namespace het::vpu
