#include "hetero/planner/schedule_search.h"

#include <algorithm>
#include <random>
#include <utility>

#include "hetero/planner/list_schedule.h"

namespace het::hetero {

ScheduleSearch::ScheduleSearch(const PlanProblem& problem, LinkUse links, size_t unit_runs)
    : problem_(problem), simulator_(problem, links), tensors_(problem), unit_runs_(unit_runs) {}

/// Keeps the candidate where it is shorter, else makes it the best one again.
bool ScheduleSearch::take(Schedule& candidate) {
  unit_runs_ -= std::min(unit_runs_, order_size());
  const double makespan = simulator_.makespan(candidate);
  if (makespan < best_makespan_ * (1 - 1e-12)) {
    best_makespan_ = makespan;
    best_ = candidate;
    return true;
  }
  candidate = best_;
  return false;
}

bool ScheduleSearch::move_units() {
  bool is_better = false;
  Schedule candidate = best_;
  for (size_t unit = 0; unit < problem_.units.size(); ++unit) {
    for (size_t device = 0; device < problem_.devices && !is_spent(); ++device) {
      if (device == best_.assignment[unit] || !can_run(unit, device)) continue;
      candidate.assignment[unit] = device;
      is_better |= take(candidate);
    }
  }
  return is_better;
}

bool ScheduleSearch::move_ends() {
  bool is_better = false;
  Schedule candidate = best_;
  for (const PlanTensor& tensor : problem_.tensors) {
    // The producer with every consumer, and every consumer where there is none.
    for (size_t device = 0; device < problem_.devices && !is_spent(); ++device) {
      bool is_possible = tensor.producer == kOutside || can_run(tensor.producer, device);
      for (const size_t consumer : tensor.consumers) is_possible &= can_run(consumer, device);
      if (!is_possible || tensor.consumers.empty()) continue;
      if (tensor.producer != kOutside) candidate.assignment[tensor.producer] = device;
      for (const size_t consumer : tensor.consumers) candidate.assignment[consumer] = device;
      if (candidate.assignment != best_.assignment) is_better |= take(candidate);
    }
  }
  return is_better;
}

bool ScheduleSearch::order_by_rank() {
  Schedule candidate = best_;
  candidate.order = rank_order(problem_, assigned_rank(problem_, best_.assignment));
  return take(candidate);
}

bool ScheduleSearch::move_in_time() {
  bool is_better = false;
  for (size_t unit = 0; unit < problem_.units.size() && !is_spent(); ++unit) {
    // Forwards past units of the same device, as far as its producers allow.
    const auto is_producer = [&](size_t other) {
      return std::ranges::any_of(tensors_.inputs[unit],
                                 [&](size_t t) { return problem_.tensors[t].producer == other; });
    };
    Schedule candidate = best_;
    size_t position =
        static_cast<size_t>(std::ranges::find(best_.order, unit) - best_.order.begin());
    while (position > 0 && !is_producer(candidate.order[position - 1]) && !is_spent()) {
      std::swap(candidate.order[position], candidate.order[position - 1]);
      --position;
      if (best_.assignment[candidate.order[position + 1]] != best_.assignment[unit]) continue;
      Schedule trial = candidate;
      is_better |= take(trial);
    }
  }
  return is_better;
}

Schedule ScheduleSearch::descend(Schedule schedule) {
  best_makespan_ = simulator_.makespan(schedule);
  best_ = std::move(schedule);
  while (!is_spent()) {
    bool is_better = order_by_rank();
    is_better |= move_units();
    is_better |= move_ends();
    is_better |= move_in_time();
    if (!is_better) break;
  }
  return best_;
}

Schedule ScheduleSearch::search(Schedule schedule, size_t kicks) {
  Schedule best = descend(std::move(schedule));
  double least = best_makespan_;
  // mt19937 gives the same numbers everywhere; the library's distributions do not.
  std::mt19937 random(1);
  for (; kicks > 0 && !is_spent() && !problem_.units.empty(); --kicks) {
    Schedule kicked = best;
    for (int i = 0; i < 2; ++i) {
      const size_t unit = random() % problem_.units.size();
      const size_t device = random() % problem_.devices;
      if (can_run(unit, device)) kicked.assignment[unit] = device;
    }
    kicked.order = rank_order(problem_, assigned_rank(problem_, kicked.assignment));
    Schedule found = descend(std::move(kicked));
    if (best_makespan_ < least) {
      least = best_makespan_;
      best = std::move(found);
    }
  }
  return best;
}

}  // namespace het::hetero
