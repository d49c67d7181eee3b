#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hetero/placement/plan_report.h"
#include "hetero/placement/policy.h"
#include "inference/base/status.h"

namespace het::hetero {

/// Times candidates, which are compiled, one after the other in rounds for about `budget_seconds`,
/// and writes their medians and spreads: seconds a request or, for throughput, from result to
/// result with as many requests in flight as the candidate's model advises.
Status time_candidates(Policy policy, std::vector<PlanCandidate>& candidates,
                       const PlanFactory& factory, double budget_seconds);

/// The candidate's compiled plans.
std::shared_ptr<const PlanMix> mix_of(const PlanCandidate& candidate, std::string explanation = {});

}  // namespace het::hetero
