#include "hetero/planner/latency_plan.h"

#include <algorithm>

#include "hetero/planner/min_cut.h"

namespace het::hetero {
namespace {

size_t fastest_device(const PlanUnit& unit) {
  return static_cast<size_t>(std::ranges::min_element(unit.seconds) - unit.seconds.begin());
}

/// Where pair moves begin: the fastest device of every unit, and the best single device, with what
/// it does not run where that is fastest.
std::vector<Assignment> starts(const PlanProblem& problem) {
  Assignment fastest;
  for (const PlanUnit& unit : problem.units) fastest.push_back(fastest_device(unit));
  Assignment best_single;
  double least = kImpossible;
  for (size_t device = 0; device < problem.devices; ++device) {
    Assignment single = fastest;
    for (size_t unit = 0; unit < single.size(); ++unit) {
      if (problem.units[unit].seconds[device] < kImpossible) single[unit] = device;
    }
    const double seconds = latency(problem, single);
    if (seconds < least || best_single.empty()) best_single = std::move(single);
    least = std::min(least, seconds);
  }
  return {std::move(fastest), std::move(best_single)};
}

/// Moves between every pair of devices until none of them finds a better one.
Assignment improve_by_pairs(const PlanProblem& problem, Assignment assignment) {
  double best = latency(problem, assignment);
  size_t pairs_left = problem.devices * (problem.devices - 1) / 2;
  const size_t pairs = pairs_left;
  for (size_t first = 0, second = 1; pairs_left > 0 && pairs > 0; --pairs_left) {
    Assignment moved = best_pair_move(problem, assignment, first, second);
    const double seconds = latency(problem, moved);
    // Less by rounding alone would go on for long.
    if (seconds < best * (1 - 1e-12)) {
      best = seconds;
      assignment = std::move(moved);
      pairs_left = pairs + 1;
    }
    if (++second == problem.devices) {
      if (++first + 1 == problem.devices) first = 0;
      second = first + 1;
    }
  }
  return assignment;
}

}  // namespace

LatencySolver::LatencySolver(const PlanProblem& problem, size_t max_entries)
    : method_(LatencyMethod::MinCut) {
  if (problem.devices == 2) return;
  elimination_.emplace(problem, max_entries);
  method_ = LatencyMethod::Elimination;
  if (elimination_->fits()) return;
  method_ = LatencyMethod::PairMoves;
  elimination_.reset();
}

LatencyPlan LatencySolver::solve(const PlanProblem& problem, const Assignment& start) const {
  LatencyPlan plan;
  plan.method = method_;
  switch (method_) {
    case LatencyMethod::MinCut:
      plan.assignment = min_cut(problem);
      break;
    case LatencyMethod::Elimination:
      plan.assignment = elimination_->solve(problem);
      break;
    case LatencyMethod::PairMoves:
      for (const Assignment& from :
           start.empty() ? starts(problem) : std::vector<Assignment>{start}) {
        Assignment found = improve_by_pairs(problem, from);
        const double seconds = latency(problem, found);
        if (seconds < plan.seconds) plan.assignment = std::move(found);
        plan.seconds = std::min(plan.seconds, seconds);
      }
      break;
  }
  if (!plan.assignment.empty()) plan.seconds = latency(problem, plan.assignment);
  if (problem.units.empty()) plan.seconds = 0;
  return plan;
}

Result<LatencyPlan> latency_plan(const PlanProblem& problem) {
  HET_TRY(check_problem(problem));
  for (size_t unit = 0; unit < problem.units.size(); ++unit) {
    if (problem.units[unit].seconds[fastest_device(problem.units[unit])] == kImpossible)
      return error(StatusCode::NotSupported, "none of {} devices runs unit {}", problem.devices,
                   unit);
  }
  LatencyPlan plan = LatencySolver(problem).solve(problem);
  if (plan.seconds == kImpossible) {
    return error(StatusCode::NotSupported, "no placement of {} units has a way for every tensor",
                 problem.units.size());
  }
  return plan;
}

}  // namespace het::hetero
