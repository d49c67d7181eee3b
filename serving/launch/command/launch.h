#pragma once

#include "inference/base/status.h"
#include "serving/launch/command/launch_options.h"

namespace het::serving {

/// Does what the options ask for, step by step: reads what is to run, asks what is in its
/// pipelines, lays instances and streams on the machine (measuring where that was asked for),
/// prints the plan and runs it. The exit status, or what is wrong with the request.
Result<int> launch(const LaunchOptions& options);

}  // namespace het::serving
