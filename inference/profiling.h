#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inference/export.h"

namespace het {

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
};

}  // namespace het
