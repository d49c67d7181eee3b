#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inference/core.h"
#include "inference/devices/profiling.h"
#include "tools/preparation_options.h"
#include "tools/spread.h"
#include "tools/trace_file.h"

namespace het {

/// benchmark_app's options, and those of sweeps and stubs.
struct BenchOptions {
  std::vector<std::string> models;
  std::string device = "CPU";
  std::string hint;  ///< latency, throughput (tput), cumulative_throughput (ctput), none
  std::string api;   ///< sync, async
  int requests = 0;  ///< 0: the compiled model's optimal number
  std::string streams;
  int threads = 0;
  std::optional<double> seconds;  ///< of a model, or of a setting of a sweep
  int64_t iterations = 0;
  int rounds = 5;
  std::vector<std::string> inputs;  ///< FILE or NAME:FILE, .npy or a picture
  std::string frames;               ///< FORMAT:WIDTHxHEIGHT
  PreparationOptions preparation;
  std::string precision;
  std::optional<std::string> cache_dir;
  std::string load_config;
  std::string config_file;
  bool counters = false;
  std::string counters_sort;  ///< sort, no_sort, simple_sort
  std::string trace;          ///< file of trace events
  bool json = false;
  std::string report;              ///< file of what -json prints
  std::vector<std::string> sweep;  ///< streams=1,2 requests=1,2,4 batch=1,4
  std::string chart;               ///< SVG file of a sweep
  std::vector<std::string> stubs;  ///< nodes and types that take no time
};

/// How long a model, or a setting of a sweep, is measured unless the options say otherwise.
inline constexpr double kBenchSeconds = 10.0;
inline constexpr double kSettingSeconds = 2.0;

/// What a benchmark measured. Times in milliseconds.
struct BenchResult {
  std::string model;  ///< file
  double read_ms = 0.0;
  double compile_ms = 0.0;
  double first_inference_ms = 0.0;
  int64_t rise_bytes = 0;  ///< memory in use after the first inference over that before reading
  double duration_ms = 0.0;
  int64_t iterations = 0;
  int64_t batch = 1;
  int requests = 0;
  std::vector<double> latencies_ms;  ///< ascending
  std::vector<BenchRound> rounds;
  std::vector<ProfileRow> counters;  ///< times summed over all executions
  int64_t counter_executions = 0;
  std::vector<TracedExecution> traced;          ///< the first executions, with a trace only
  std::map<std::string, std::string> settings;  ///< properties of the compiled model
};

/// Measures one model in one uninterrupted run.
Result<BenchResult> run_bench(Core& core, const BenchOptions& options, const std::string& model);

/// benchmark_app's closing lines of each model and the geometric means of several, or one JSON
/// object; and the file of -report.
Status print_bench(const BenchOptions& options, const std::vector<BenchResult>& results);

/// Times of the rows per execution instead of over all.
std::vector<ProfileRow> average_counters(const BenchResult& result);

}  // namespace het
