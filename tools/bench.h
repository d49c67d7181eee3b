#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inference/core.h"
#include "inference/devices/profiling.h"
#include "tools/preparation_options.h"
#include "tools/trace_file.h"

namespace het {

/// benchmark_app's options, as far as this step fills them in.
struct BenchOptions {
  std::string model;
  std::string device = "CPU";
  std::string hint;  ///< latency, throughput (tput), cumulative_throughput (ctput), none
  std::string api;   ///< sync, async
  int requests = 0;  ///< 0: the compiled model's optimal number
  std::string streams;
  int threads = 0;
  double seconds = 10.0;
  int64_t iterations = 0;
  std::vector<std::string> inputs;  ///< FILE or NAME:FILE, .npy or a picture
  PreparationOptions preparation;
  std::string precision;
  std::optional<std::string> cache_dir;
  std::string load_config;
  std::string config_file;
  bool counters = false;
  std::string counters_sort;  ///< sort, no_sort, simple_sort
  std::string trace;          ///< file of trace events
  bool json = false;
};

/// What a benchmark measured. Times in milliseconds.
struct BenchResult {
  double read_ms = 0.0;
  double compile_ms = 0.0;
  double first_inference_ms = 0.0;
  int64_t rise_bytes = 0;  ///< memory in use after the first inference over that before reading
  double duration_ms = 0.0;
  int64_t iterations = 0;
  int64_t batch = 1;
  int requests = 0;
  std::vector<double> latencies_ms;  ///< ascending
  std::vector<ProfileRow> counters;  ///< times summed over all executions
  int64_t counter_executions = 0;
  std::vector<TracedExecution> traced;          ///< the first executions, with a trace only
  std::map<std::string, std::string> settings;  ///< properties of the compiled model
};

/// Compiles and runs; inputs that are not given are filled with random values of a fixed seed.
Result<BenchResult> run_bench(Core& core, const BenchOptions& options);

/// benchmark_app's closing lines, or one JSON object.
void print_bench(const BenchOptions& options, const BenchResult& result);

/// The value below which `percent` of the sorted values lie (nearest rank).
double percentile(const std::vector<double>& sorted, double percent);

}  // namespace het
