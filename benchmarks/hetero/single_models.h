#pragma once

#include <memory>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/core.h"
#include "inference/model/model.h"

namespace het::hetero {

/// With unknown dimensions bound: 1 for the batch, else `other`.
Result<std::unique_ptr<Model>> read_bound(Core& core, const std::string& path);

/// What HETERO with one device costs: on a model of one small node in microseconds a request, and
/// on this model as a ratio of alternating rounds.
Status measure_overhead(Core& core, const std::string& path);

/// Prints how a model is split with these affinities (a file): a line of JSON.
Status print_split(Core& core, const std::string& path, const std::string& devices,
                   const std::string& affinity);

}  // namespace het::hetero
