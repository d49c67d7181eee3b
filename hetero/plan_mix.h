#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hetero/hetero_plan.h"

namespace het::hetero {

/// A plan and the part of all executions that take it.
struct PlanWay {
  std::shared_ptr<const HeteroPlan> plan;
  double share = 1;
};

/// What executions of a model take: one plan or, where that gives more frames a second, several.
/// Immutable but for whose turn it is; thread-safe.
class PlanMix {
 public:
  /// At least one way; shares are relative. `requests` in flight keep all devices busy; 0: what the
  /// devices advise.
  explicit PlanMix(std::vector<PlanWay> ways, size_t requests = 0, std::string explanation = {});

  const std::vector<PlanWay>& ways() const { return ways_; }
  size_t requests() const { return requests_; }
  const std::string& explanation() const { return explanation_; }  ///< HETERO_PLAN
  bool uses(std::string_view device) const;
  /// The way of the next execution: at any time each has had its share, to less than one execution
  /// (and shares are rounded to parts of kTurns).
  size_t next_way() const;

 private:
  static constexpr size_t kTurns = 64;
  const std::vector<PlanWay> ways_;
  const size_t requests_;
  const std::string explanation_;
  std::vector<size_t> turns_;  ///< ways in their order; empty where there is one
  mutable std::atomic<size_t> started_ = 0;
};

}  // namespace het::hetero
