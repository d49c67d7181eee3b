#pragma once

#include <functional>
#include <vector>

#include "hetero/planner/plan_problem.h"
#include "hetero/planner/throughput_plan.h"
#include "inference/base/status.h"

namespace het::hetero {

/// Seconds from frame to frame of such a plan or mix, with frames that queue.
using DraftPrice = std::function<Result<double>(const std::vector<PlanShare>& shares)>;

/// One plan or, with `mixed`, several that share the frames (empty: one is best): the planner's for
/// the busiest device or link or, where frames would queue at its hand-overs, one that hands over
/// less often and keeps that busy for longer. Of prices that are alike the one with fewest
/// hand-overs.
Result<std::vector<PlanShare>> draft_throughput(const PlanProblem& problem, bool mixed,
                                                const DraftPrice& price);

}  // namespace het::hetero
