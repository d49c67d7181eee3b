#pragma once

#include <string>

#include "serving/metrics/watch/registry.h"

namespace het::metrics {

/// What a process' pipelines do, as far as /health/ready asks. Values of one moment.
struct PipelineHealth {
  bool is_outermost = false;  ///< else it has gone into a bin, or away
  GstState state = GST_STATE_NULL;
  std::string problem;  ///< empty: none
};

/// `stall_s`: how long a pipeline that plays may bring nothing to any of its sinks.
PipelineHealth health_of(const WatchedPipeline& pipeline, const Registry& registry, double stall_s);

/// Why the process is not ready; empty: at least one pipeline plays, and none has a problem.
std::string why_not_ready(const Registry& registry, double stall_s);

}  // namespace het::metrics
