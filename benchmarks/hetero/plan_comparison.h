#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/hetero/simulated_machine.h"
#include "inference/base/status.h"
#include "inference/model/model.h"

namespace het::hetero {

/// Fast and slow accelerators, with and without gaps in what they take, fast and slow links, two
/// and three devices. Devices are in the order of priority that a user would give.
std::vector<SimulatedMachine> simulated_machines();

/// Plans on paper: seconds of a request one thing at a time (latency), of a request with devices
/// side by side (parallel), and from frame to frame (throughput).
class PlanComparison {
 public:
  /// `csv` empty: no file.
  explicit PlanComparison(const std::string& csv);
  ~PlanComparison();
  PlanComparison(const PlanComparison&) = delete;
  PlanComparison& operator=(const PlanComparison&) = delete;

  /// A prepared model on every machine.
  Status add(const std::string& name, const Model& prepared);
  void print_summary() const;

 private:
  static constexpr size_t kObjectives = 3;
  static constexpr size_t kRules = 3;  ///< ours, OpenVINO's, ONE's
  struct Tally {
    size_t count = 0;
    size_t slower = 0;  ///< than the best single device
    double log_gain = 0;
    double worst = 1e9;
  };
  using Row = std::array<double, kRules>;  ///< seconds

  void count(const std::string& name, const SimulatedMachine& machine, size_t objective,
             double single, const Row& seconds);

  std::FILE* csv_ = nullptr;
  std::array<std::array<Tally, kRules>, kObjectives> tallies_{};
  size_t mixed_ = 0;  ///< throughput plans of several placements
};

}  // namespace het::hetero
