#pragma once

#include <string>

#include "inference/base/status.h"
#include "serving/density/results/density_results.h"

namespace het::density {

/// Whether the name ends in .svg or .png.
bool is_chart_file(const std::string& path);

/// Draws each trial's p99 by its number of streams, the goal, and what each device carries. Fails
/// with Internal when the file cannot be written.
Status draw_density_chart(const DensityResults& results, const std::string& path);

}  // namespace het::density
