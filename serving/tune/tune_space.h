#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/tune/pipeline_line.h"
#include "serving/tune/search.h"

namespace het::serving {

/// What there is to try values of.
struct TuneSpaceRequest {
  std::vector<std::string> devices;     ///< of this machine: "CPU", "GPU.0", "REF"
  size_t processors = 1;                ///< that this process may use
  std::vector<size_t> instance_counts;  ///< that are worth measuring
  std::set<std::string> only;           ///< names of kinds; empty: all
  bool allow_interval = false;
  bool keeps_results = false;  ///< only what cannot change what is found
};

/// device, precision, nireq, streams, hint, batch, pre-process-backend, inference-interval,
/// instances.
const std::vector<std::string>& tune_kinds();

/// Settings in the order in which they are tried: what everything else depends on first, copies of
/// the pipeline last. Each element's are its own.
std::vector<TuneSetting> tune_space(const PipelineLine& line, const TuneSpaceRequest& request);

/// A pipeline with a choice of these settings.
struct TunedPipeline {
  PipelineLine line;
  size_t instances = 1;
};
TunedPipeline tuned_pipeline(const PipelineLine& line, const std::vector<TuneSetting>& settings,
                             const TuneChoice& choice);

}  // namespace het::serving
