#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hetero/execution/hetero_plan.h"
#include "hetero/members/device_gate.h"

namespace het::hetero {

/// A plan and the part of all executions that take it.
struct PlanWay {
  std::shared_ptr<const HeteroPlan> plan;
  double share = 1;
};

/// `turns` turns for ways with these shares, which are relative: each goes to the way that is
/// furthest behind its share.
std::vector<size_t> order_turns(const std::vector<double>& shares, size_t turns);

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
  /// The way of the execution that begins as number `number`: at any time each has had its share,
  /// to less than one execution (and shares are rounded to parts of kTurns).
  size_t way_of(uint64_t number) const;
  /// The number of the next execution.
  uint64_t begin() const { return begun_.fetch_add(1, std::memory_order_relaxed); }
  using Gates = std::vector<std::shared_ptr<DeviceGate>>;
  /// Per subgraph of a way the gate of its device, which all ways share; null where that runs one
  /// subgraph of all of them, and its own queue does.
  const Gates& gates(size_t way) const { return gates_[way]; }
  static constexpr size_t kTurns = 64;

 private:
  const std::vector<PlanWay> ways_;
  const size_t requests_;
  const std::string explanation_;
  std::vector<size_t> turns_;  ///< ways in their order; empty where there is one
  std::vector<Gates> gates_;   ///< per way
  mutable std::atomic<uint64_t> begun_ = 0;
};

}  // namespace het::hetero
