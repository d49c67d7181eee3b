#pragma once

#include "hetero/planner/plan_problem.h"

namespace het::hetero {

/// The least latency of two devices, as a minimum cut between them. Empty where every placement is
/// impossible. Of equal cuts, the one with most units on device 0.
///
/// Exact up to rounding: costs become whole numbers whose sum has about 60 bits less those of the
/// number of vertices.
Assignment min_cut(const PlanProblem& problem);

/// The same for two devices of more: units that `assignment` has on `first` or `second` choose
/// between those two, the others stay. Never worse than `assignment`; the move of the swap
/// algorithm (Boykov, Veksler, Zabih: Fast approximate energy minimization via graph cuts, 2001).
Assignment best_pair_move(const PlanProblem& problem, const Assignment& assignment, size_t first,
                          size_t second);

}  // namespace het::hetero
