#pragma once

#include "hetero/planner/plan_problem.h"

namespace het::hetero {

struct SingleDevicePlan {
  Assignment assignment;  ///< empty where no device runs every unit
  size_t device = 0;
  double seconds = kImpossible;
};

/// All units on that device, which other plans have to beat.
SingleDevicePlan single_device_plan(const PlanProblem& problem, size_t device);
/// The least latency of these; the first device of equal ones.
SingleDevicePlan best_single_device(const PlanProblem& problem);

}  // namespace het::hetero
