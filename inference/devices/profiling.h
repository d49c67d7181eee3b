#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/visibility.h"

namespace het {

class Node;

enum class ProfileStatus : uint8_t { NotRun, OptimizedOut, Executed };

/// "NOT_RUN", "OPTIMIZED_OUT", "EXECUTED"
HET_API std::string_view to_string(ProfileStatus status);

/// What one node cost in the last execution of a request with PERF_COUNT=YES.
struct ProfileRow {
  std::string node_name;
  ProfileStatus status = ProfileStatus::NotRun;
  std::string layer_type;  ///< operator type
  std::string exec_type;   ///< implementation, e.g. "jit_avx512_core", "ref", "preprocess"
  int64_t real_us = 0;
  int64_t cpu_us = 0;
  std::string type;      ///< element type of the first output, e.g. "float32"; "" where unknown
  std::string layout;    ///< of the first output as the device keeps it, e.g. "nChw16c", "plain"
  int64_t bytes = 0;     ///< of all inputs and outputs, constants included; 0 where unknown
  int64_t start_us = 0;  ///< of the first part, by the steady clock
};

/// What a step of a device's plan is called in profiles.
struct StepName {
  std::string node_name;
  std::string layer_type;
  std::vector<std::string> fused_names;  ///< nodes of the file that this step does too
};

HET_API StepName step_name(const Node& node);

}  // namespace het
