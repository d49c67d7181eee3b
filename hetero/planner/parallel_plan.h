#pragma once

#include "hetero/planner/simulator.h"

namespace het::hetero {

/// What a parallel plan began as.
enum class ParallelOrigin { SingleDevice, Latency, UpwardRank, OneRank };

struct ParallelPlan {
  Schedule schedule;
  double seconds = kImpossible;  ///< makespan of one request
  ParallelOrigin origin = ParallelOrigin::SingleDevice;
  double single_seconds = kImpossible;  ///< the shortest of the single devices
};

struct ParallelOptions {
  LinkUse links = LinkUse::OnePerPair;
  /// Units that local search may simulate, about 20 ns each; zero leaves the candidates as they
  /// are.
  size_t unit_runs = 4'000'000;
  size_t kicks = 20;  ///< from local optima, while there are runs left
};

/// The placement and order of least makespan among: every single device, the placement of least
/// latency, HEFT and ONE's rank, each improved by local search. Never longer than the best single
/// device in the same simulation. Errors as latency_plan().
Result<ParallelPlan> parallel_plan(const PlanProblem& problem, const ParallelOptions& options = {});

}  // namespace het::hetero
