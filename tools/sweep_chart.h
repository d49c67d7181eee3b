#pragma once

#include <string>

#include "tools/bench.h"
#include "tools/sweep.h"

namespace het {

/// Throughput against latency as an SVG picture: a line per streams and batch with the numbers of
/// requests along it, the spread of the rounds as thin crosses, the front dashed and the knee
/// marked. The latency's axis is logarithmic where it spans more than a factor of 12.
std::string sweep_chart(const BenchOptions& options, const SweepResult& result);

}  // namespace het
