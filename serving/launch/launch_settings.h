#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "serving/launch/job.h"

namespace het::serving {

/// A stream as the user describes it; its pipeline has placeholders still.
struct StreamSettings {
  std::string name;
  /// The arguments of a command line, or a single one: the text of a file.
  std::vector<std::string> pipeline;
  /// What the file says for {name of the variable}; of a command line none.
  std::map<std::string, std::string> variables;
  std::optional<double> cost;  ///< processors that it keeps busy
  std::optional<size_t> node;  ///< where it must run
  std::optional<size_t> decoder_threads;
};

enum class RestartPolicy { OnFailure, Always, Never };

/// What `hetero launch` was asked for, by options or by a file; options win.
struct LaunchSettings {
  std::string name;  ///< for --status; empty: the process' number
  /// "node", "auto" or a number.
  std::optional<std::string> instances;
  std::string processors;  ///< a list as "0-3,8"; empty: all
  RestartPolicy restart = RestartPolicy::OnFailure;
  BackOff back_off;
  double stop_timeout_s = 10;
  bool replicate = true;  ///< every instance runs all streams: a command line
  std::vector<StreamSettings> streams;
  /// Defaults of devices for all instances, from the file: {"CPU": {...}}.
  std::map<std::string, Properties> properties;
  double measure_s = 5;
};

}  // namespace het::serving
