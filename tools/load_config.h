#pragma once

#include <string>

#include "inference/core.h"

namespace het {

/// The file of -load_config, {device: {KEY: value}}: returns what is for `device`; what is for
/// others is set for the members of a composite device. Sections for devices that are not there are
/// left out, as benchmark_app does. Nothing for an empty path. Fails with NotFound for a name that
/// no device has.
Result<Properties> read_config(Core& core, const std::string& path, const std::string& device);

}  // namespace het
