#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "devices/cpu/plan/plan.h"
#include "devices/cpu/plan/plan_execution.h"
#include "inference/base/probes.h"
#include "inference/devices/profiling.h"
#include "inference/model/model.h"

namespace het::cpu {

/// A plan with what requests need to run it: the memory of each stream's executions, and the names
/// of its steps. Thread-safe.
class RunnablePlan {
 public:
  /// Profiles name the nodes of `original` that the plan has no steps for.
  RunnablePlan(Plan plan, const Model& original);

  const Plan& plan() const { return plan_; }
  /// Makes what is missing of the executions of this many streams. Fails with OutOfMemory.
  Status prepare(size_t streams);
  /// Memory and pointers of a stream's executions, for its thread alone, once prepared.
  PlanExecution& execution(size_t stream) const { return *executions_[stream]; }
  /// Rows of a profile in order of execution: "preprocess" first, then one per step (step_rows()),
  /// then the nodes of the file that cost nothing.
  const std::vector<ProfileRow>& profile_rows() const { return rows_; }
  const std::vector<size_t>& step_rows() const { return step_rows_; }
  /// Per step, for tracing tools.
  const std::vector<NodeNames>& step_names() const { return step_names_; }

 private:
  std::string name_;
  Plan plan_;
  std::vector<ProfileRow> rows_;
  std::vector<size_t> step_rows_;
  std::vector<NodeNames> step_names_;
  std::mutex executions_mutex_;  ///< while executions_ is filled, before any request is there
  std::vector<std::unique_ptr<PlanExecution>> executions_;  ///< per stream
};

}  // namespace het::cpu
