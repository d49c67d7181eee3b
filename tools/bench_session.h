#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "inference/core.h"
#include "inference/requests/infer_request.h"
#include "tools/bench.h"
#include "tools/bench_inputs.h"
#include "tools/spread.h"

namespace het {

/// True when the options ask for the times of nodes.
bool is_counting(const BenchOptions& options);

/// The properties that a model is compiled with: those of -load_config under those of the options.
Result<Properties> bench_properties(Core& core, const BenchOptions& options);

/// True when one request is driven by the calling thread.
bool is_sync(const BenchOptions& options);

/// A model that is compiled and has its requests, ready to be measured. Thread-bound.
class BenchSession {
 public:
  /// Reads `model` and compiles it, makes its requests and runs each once. Inputs that are not
  /// given are filled with random values of a fixed seed.
  static Result<std::unique_ptr<BenchSession>> create(Core& core, const BenchOptions& options,
                                                      const std::string& model);
  /// The same for a model that was read and prepared as the options say.
  static Result<std::unique_ptr<BenchSession>> create(Core& core, const BenchOptions& options,
                                                      const Model& model);

  /// Keeps `requests` in flight (0: all that were made) until `iterations` are done or, where that
  /// is 0, `seconds` are over. Adds to the result's counters and traces. One measurement at a time.
  Result<Measured> measure(size_t requests, double seconds, int64_t iterations);

  /// Compile times and settings after create(), counters and traces after measure().
  BenchResult& result() { return result_; }

 private:
  struct Worker {
    std::unique_ptr<InferRequest> request;
    std::chrono::steady_clock::time_point started;
    std::vector<Inference> inferences;
  };
  class Drive;

  explicit BenchSession(const BenchOptions& options) : options_(options) {}
  Status compile(Core& core, const Model& model);
  Status make_requests();
  Status drive_sync(double seconds, int64_t iterations);
  void collect_rows(size_t worker);

  const BenchOptions options_;
  BenchResult result_;
  std::shared_ptr<CompiledModel> compiled_;
  BenchFrames frames_;
  std::vector<Worker> workers_;
};

}  // namespace het
