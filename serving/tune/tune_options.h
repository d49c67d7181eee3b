#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace het::serving {

/// The command line of `hetero tune`.
struct TuneOptions {
  double time_limit_s = 300;
  double seconds = 2;   ///< of one run, without its start
  double bound = 0.02;  ///< how much results may differ
  std::set<std::string> only;
  bool allow_interval = false;
  std::string json_file;
  std::vector<std::string> line;  ///< behind "--", without gst-launch-1.0 in front
};

/// Options, or the exit status of a program that has nothing more to do (--help, wrong usage),
/// which has been told about.
struct ParsedTuneOptions {
  TuneOptions options;
  std::optional<int> exit_status;
};

ParsedTuneOptions parse_tune_options(int argc, char** argv);

}  // namespace het::serving
