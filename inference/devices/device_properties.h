#pragma once

#include <map>
#include <string>
#include <string_view>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/devices/properties.h"

namespace het {

/// Reads the value of DEVICE_PROPERTIES: "{CPU:{NUM_STREAMS:2},GPU:{PERF_COUNT:YES}}", as OpenVINO
/// prints it, or a JSON object of objects. Names and values are not checked. Fails with ParseError.
HET_API Result<std::map<std::string, Properties>> parse_device_properties(std::string_view text);

}  // namespace het
