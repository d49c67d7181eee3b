#pragma once

#include "hetero/planner/simulator.h"

namespace het::hetero {

/// Lowers the period() of one plan by moving units, single ones and all ends of a tensor, first
/// by norms of all loads (so that moves count that lower another load than the highest), then by
/// the highest load; then `kicks` times again from the best with two random units moved. Never
/// returns a longer period. All choices are fixed by the problem.
Assignment improve_period(const PlanProblem& problem, const Assignment& assignment, LinkUse links,
                          int kicks = 0);

}  // namespace het::hetero
