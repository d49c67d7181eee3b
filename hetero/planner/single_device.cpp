#include "hetero/planner/single_device.h"

namespace het::hetero {

SingleDevicePlan single_device_plan(const PlanProblem& problem, size_t device) {
  SingleDevicePlan plan;
  Assignment assignment(problem.units.size(), device);
  const double seconds = latency(problem, assignment);
  plan.device = device;
  if (seconds < kImpossible) {
    plan.assignment = std::move(assignment);
    plan.seconds = seconds;
  }
  return plan;
}

SingleDevicePlan best_single_device(const PlanProblem& problem) {
  SingleDevicePlan best;
  for (size_t device = 0; device < problem.devices; ++device) {
    SingleDevicePlan plan = single_device_plan(problem, device);
    if (plan.seconds < best.seconds) best = std::move(plan);
  }
  return best;
}

}  // namespace het::hetero
