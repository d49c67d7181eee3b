#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "serving/tune/detections.h"
#include "serving/tune/instance_orders.h"
#include "serving/tune/pipeline_line.h"
#include "serving/tune/search.h"
#include "serving/tune/tune_options.h"

namespace het::serving {

/// What came out of recording the pipeline as given.
struct GivenResults {
  Recording recording;
  /// Twice the same within the bound, and objects in it. If not, why nothing can be compared.
  std::string why_not;
  bool is_comparable() const { return why_not.empty(); }
};

/// Plays pipelines in processes of their own.
class PipelineMachine : public TuneMachine {
 public:
  /// `is_stopped`: the user wants the end.
  PipelineMachine(const TuneOptions& options, PipelineLine line, InstanceOrders orders,
                  std::function<bool()> is_stopped);

  /// Records the pipeline as given, twice. Fails where it does not play.
  Result<GivenResults> record_given();
  void use(std::vector<TuneSetting> settings, GivenResults given);

  Result<double> measure(const TuneChoice& choice) override;
  Result<std::string> check(const TuneChoice& choice) override;
  double seconds_left() const override;
  bool is_stopped() const override { return is_stopped_(); }
  double seconds_used() const { return options_.time_limit_s - seconds_left(); }
  const PipelineLine& line() const { return line_; }

 private:
  Result<Recording> record(const PipelineLine& line, size_t frames, double most_s);
  Result<std::vector<std::vector<Report>>> play(const std::vector<TrialOrder>& orders,
                                                double most_s);

  const TuneOptions& options_;
  const PipelineLine line_;
  const InstanceOrders orders_;
  const std::function<bool()> is_stopped_;
  const std::chrono::steady_clock::time_point end_;
  std::vector<TuneSetting> settings_;
  GivenResults given_;
};

}  // namespace het::serving
