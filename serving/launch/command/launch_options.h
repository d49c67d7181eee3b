#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/launch/launch_settings.h"

namespace het::serving {

/// The command line of `hetero launch`.
struct LaunchOptions {
  bool status = false;  ///< --status [NAME]
  bool dry_run = false;
  bool json = false;     ///< of --status and --dry-run
  std::string topology;  ///< hwloc's description of another machine, for --dry-run
  std::string efficiency_processors;
  size_t quota = 0;  ///< threads that the other machine allows; 0: as many as processors
  /// What was given on the command line, over what the file says.
  std::optional<std::string> name;
  std::optional<std::string> instances;
  std::optional<std::string> processors;
  std::optional<RestartPolicy> restart;
  std::optional<double> stop_timeout_s;
  std::optional<double> measure_s;
  std::string file;               ///< empty where there is a line
  std::vector<std::string> line;  ///< behind "--", without gst-launch-1.0 in front
};

/// Options, or the exit status of a program that has nothing more to do (--help, wrong usage),
/// which has been told about.
struct ParsedOptions {
  LaunchOptions options;
  std::optional<int> exit_status;
};

ParsedOptions parse_options(int argc, char** argv);

/// The settings of the line or of the file, with the options over them.
Result<LaunchSettings> launch_settings(const LaunchOptions& options);

}  // namespace het::serving
