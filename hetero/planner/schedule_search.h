#pragma once

#include "hetero/planner/simulator.h"

namespace het::hetero {

/// Improves schedules move by move; what it returns is never longer than what it was given. All
/// choices are fixed by the problem: no clock, no chance.
class ScheduleSearch {
 public:
  /// `unit_runs`: how many units may be simulated in all; about 20 ns each.
  ScheduleSearch(const PlanProblem& problem, LinkUse links, size_t unit_runs);

  double makespan(const Schedule& schedule) { return simulator_.makespan(schedule); }
  bool is_spent() const { return unit_runs_ < order_size(); }

  /// Passes until none of them helps: units to other devices, tensors' ends together to other
  /// devices, the order by the assignment's own ranks, units to other times.
  Schedule descend(Schedule schedule);
  /// descend(), then `kicks` times from the best schedule with two random units moved.
  Schedule search(Schedule schedule, size_t kicks);

 private:
  size_t order_size() const { return problem_.units.size() + 1; }
  bool take(Schedule& candidate);
  bool move_units();
  bool move_ends();
  bool order_by_rank();
  bool move_in_time();
  bool can_run(size_t unit, size_t device) const {
    return problem_.units[unit].seconds[device] < kImpossible;
  }

  const PlanProblem& problem_;
  Simulator simulator_;
  UnitTensors tensors_;
  size_t unit_runs_;
  Schedule best_;
  double best_makespan_ = kImpossible;
};

}  // namespace het::hetero
