#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inference/core.h"
#include "tools/bench.h"
#include "tools/spread.h"
#include "tools/sweep_axes.h"

namespace het {

/// One combination and what it gave.
struct SweepSetting {
  std::string streams;
  int requests = 0;
  int64_t batch = 1;
  std::vector<BenchRound> rounds;
};

/// What a sweep measured. `front` are indices of settings, by ascending latency (pareto.h).
struct SweepResult {
  std::string device_name;  ///< FULL_DEVICE_NAME
  double round_seconds = 0.0;
  std::vector<SweepSetting> settings;
  std::vector<size_t> front;
  int knee = -1;  ///< -1: none
};

/// Measures every combination once in each round, so that what disturbs the machine for a while
/// spreads over all of them. The model is compiled anew in each round for its streams and batch.
Result<SweepResult> run_sweep(Core& core, const BenchOptions& options, const SweepAxes& axes);

/// A table, or one JSON object; the files of -report and --chart.
Status print_sweep(const BenchOptions& options, const SweepResult& result);

/// "2 streams, 4 requests, batch 1"
std::string describe(const SweepSetting& setting);

}  // namespace het
