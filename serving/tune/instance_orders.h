#pragma once

#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/launch/command/trial.h"
#include "serving/launch/plan/launch_plan.h"
#include "serving/launch/report.h"

namespace het::serving {

/// Copies of a pipeline in processes, as `hetero launch --instances` lays them out.
class InstanceOrders {
 public:
  /// Of this machine. `description` is the pipeline's.
  static Result<InstanceOrders> of_machine(StreamDescription description);

  /// Numbers that are worth measuring; 1 is the first.
  std::vector<size_t> counts() const;
  /// Fails where copies would write the same file.
  Result<std::vector<TrialOrder>> orders(const std::vector<std::string>& words,
                                         size_t instances) const;

 private:
  explicit InstanceOrders(StreamDescription description, PlanRequest request)
      : description_(std::move(description)), request_(std::move(request)) {}

  StreamDescription description_;
  PlanRequest request_;
};

}  // namespace het::serving
