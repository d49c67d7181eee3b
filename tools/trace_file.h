#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/devices/profiling.h"

namespace het {

/// The nodes of one execution of a request, for a trace.
struct TracedExecution {
  size_t request = 0;
  std::vector<ProfileRow> rows;
};

/// Writes executions as Chrome's trace events (chrome://tracing, ui.perfetto.dev): a line per
/// request, a bar per executed node. Fails when the file cannot be written.
Status write_trace(const std::string& path, const std::string& model,
                   const std::vector<TracedExecution>& executions);

}  // namespace het
