#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "inference/base/status.h"
#include "inference/core.h"

namespace het::hetero {

double median(std::vector<double> values);

/// Seconds of a request, median of so many behind one that warms up.
Result<double> measure_latency(CompiledModel& model, size_t times);

/// Of one measurement.
struct Rate {
  size_t frames = 0;
  double per_second = 0;
};

/// Frames a second while the pipeline is full: from one result to that `frames` later, many times
/// those in flight, which are at another place of their way at either end. `requests` 0:
/// OPTIMAL_NUMBER_OF_INFER_REQUESTS. `begins` and `ends` are called at both.
Result<Rate> measure_throughput(CompiledModel& model, size_t requests,
                                const std::function<void()>& begins = {},
                                const std::function<void()>& ends = {});

}  // namespace het::hetero
