#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/launch/job.h"
#include "serving/launch/launch_settings.h"

namespace het::serving {

/// Reads a launch file (YAML): streams and a template of their pipeline. The keys are in
/// docs/deployment.md. Fails with NotFound, or with ParseError or InvalidArgument that name line
/// and key.
Result<LaunchSettings> read_launch_file(const std::string& path);

}  // namespace het::serving
