#pragma once

#include <string>
#include <string_view>

#include "inference/base/status.h"
#include "serving/launch/launch_settings.h"

namespace het::serving {

/// Reads a launch file (YAML): streams and a template of their pipeline. The keys are in
/// docs/deployment.md. Paths in it are relative to the working directory, as on a command line.
/// Every pipeline has been filled once, so that fill_pipeline() with the names that
/// placeholder_values() gives fails for none. Fails with NotFound, or with ParseError or
/// InvalidArgument that name line and key. A file has at most 1 MiB, 4096 streams, and 64 MiB of
/// pipelines with everything filled in.
Result<LaunchSettings> read_launch_file(const std::string& path);

/// Whether a stream or a launch may be called so: letters, digits, '.', '_' and '-', at most 64.
/// Names become parts of file names.
bool is_launch_name(std::string_view name);

}  // namespace het::serving
