#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "hetero/placement/plan_report.h"
#include "hetero/placement/policy.h"
#include "inference/base/status.h"

namespace het::hetero {

/// Times candidates, which are compiled, one after the other in rounds for at most about
/// `budget_seconds`, and writes their medians and spreads: milliseconds a request or, for
/// throughput, from result to result with as many requests in flight as the candidate's model
/// advises. Ends as soon as the medians are known well enough; who is far behind is left out of
/// further rounds.
Status time_candidates(Policy policy, const std::vector<PlanCandidate*>& candidates,
                       const PlanFactory& factory, double budget_seconds);

/// The least number of requests in flight that gives the candidate's best throughput but for 1 %,
/// of some near `candidate.requests`, by running them in turn for at most about `budget_seconds`.
Result<size_t> measure_requests(const PlanCandidate& candidate, const PlanFactory& factory,
                                double budget_seconds);

/// The candidate's compiled plans.
std::shared_ptr<const PlanMix> mix_of(const PlanCandidate& candidate, std::string explanation = {});

}  // namespace het::hetero
