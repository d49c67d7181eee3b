#pragma once

#include "hetero/planner/simulator.h"

namespace het::hetero {

/// How many copies of tensors other places than their producer's need.
size_t count_transfers(const PlanProblem& problem, const Assignment& assignment);

/// A plan with fewer transfers whose period() is at most 1 + `slack` times as long: connected units
/// of a device, the smallest first, move to another device where that leaves fewer transfers. Many
/// small pieces balance loads on paper; in fact each of them waits for its device.
Assignment with_fewer_cuts(const PlanProblem& problem, const Assignment& assignment, LinkUse links,
                           double slack);

}  // namespace het::hetero
