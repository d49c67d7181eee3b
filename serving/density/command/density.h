#pragma once

#include "inference/base/status.h"
#include "serving/density/command/density_options.h"

namespace het::density {

/// Searches for each device, with progress on standard error; then table, JSON and chart. Returns
/// the exit status. Fails with InvalidArgument for what no trial can run.
Result<int> measure_density(const DensityOptions& options);

}  // namespace het::density
