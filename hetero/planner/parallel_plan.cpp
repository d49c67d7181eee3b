#include "hetero/planner/parallel_plan.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "hetero/planner/latency_plan.h"
#include "hetero/planner/list_schedule.h"
#include "hetero/planner/schedule_search.h"
#include "hetero/planner/single_device.h"

namespace het::hetero {

Result<ParallelPlan> parallel_plan(const PlanProblem& problem, const ParallelOptions& options) {
  HET_ASSIGN(LatencyPlan fastest, latency_plan(problem));
  std::vector<size_t> natural(problem.units.size());
  std::iota(natural.begin(), natural.end(), size_t{0});
  Simulator simulator(problem, options.links);
  // 1. Candidates.
  std::vector<ParallelPlan> candidates;
  double single_seconds = kImpossible;
  const auto add = [&](Schedule schedule, ParallelOrigin origin) {
    const double seconds = simulator.makespan(schedule);
    if (seconds == kImpossible) return;
    if (origin == ParallelOrigin::SingleDevice) single_seconds = std::min(single_seconds, seconds);
    candidates.push_back({std::move(schedule), seconds, origin, kImpossible});
  };
  for (size_t device = 0; device < problem.devices; ++device) {
    Assignment assignment = single_device_plan(problem, device).assignment;
    if (assignment.size() != natural.size()) continue;
    const std::vector<double> rank = assigned_rank(problem, assignment);
    add({assignment, natural}, ParallelOrigin::SingleDevice);
    add({std::move(assignment), rank_order(problem, rank)}, ParallelOrigin::SingleDevice);
  }
  add({std::move(fastest.assignment), natural}, ParallelOrigin::Latency);
  add(list_schedule(problem, upward_rank(problem), options.links), ParallelOrigin::UpwardRank);
  add(list_schedule(problem, one_rank(problem), options.links), ParallelOrigin::OneRank);
  // 2. Each is improved, the shortest first while there are runs left: half of them for the first
  // and so on.
  std::ranges::stable_sort(candidates, {}, &ParallelPlan::seconds);
  size_t unit_runs = options.unit_runs;
  for (ParallelPlan& candidate : candidates) {
    unit_runs /= 2;
    ScheduleSearch search(problem, options.links, unit_runs);
    candidate.schedule = search.search(std::move(candidate.schedule), options.kicks);
    candidate.seconds = simulator.makespan(candidate.schedule);
  }
  // 3. The shortest; of equal ones what was shortest before.
  ParallelPlan best = std::move(*std::ranges::min_element(candidates, {}, &ParallelPlan::seconds));
  best.single_seconds = single_seconds;
  return best;
}

}  // namespace het::hetero
