#pragma once

#include <cstddef>
#include <vector>

#include "hetero/placement/plan_report.h"
#include "hetero/planner/throughput_plan.h"

namespace het::hetero {

/// The same devices for the same nodes, in as many subgraphs.
bool is_same_way(const CandidateWay& a, const CandidateWay& b);
/// Adds a way or, where it is among them, its share to that of the same.
void add_way(std::vector<CandidateWay>& ways, CandidateWay way);
/// The one of `candidates` that has the ways of `wanted`, if with other shares, or null.
const PlanCandidate* find_same(const std::vector<PlanCandidate>& candidates,
                               const PlanCandidate& wanted);

bool uses_one_device(const PlanCandidate& candidate);

/// Milliseconds: what was measured or, where nothing was, what the costs say.
double milliseconds_of(const PlanCandidate& candidate);

/// Of all its ways.
size_t subgraph_count(const PlanCandidate& candidate);

/// The index of the fastest; of several that differ by 2 % at most, the one with fewest subgraphs.
/// One that uses several devices has to be better than the best single
/// device by `least_gain`, a share.
size_t best_candidate(const std::vector<PlanCandidate>& candidates, double least_gain);

/// Whether several devices are better than a single one by `least_gain`, a share, in all
/// measurements and whatever disturbed that one: other programs make times longer, so the single
/// one counts with its first quartile in the best measurement, several with their median in the
/// worst.
bool is_certainly_better(const PlanCandidate& several, const PlanCandidate& single,
                         double least_gain);

/// The middle of the biases of those that use one device or, with `is_single` false, several; 1
/// where there are none.
double usual_bias(const std::vector<PlanCandidate>& candidates, bool is_single);

/// Shares that add up to 1.
void normalise(std::vector<PlanShare>& shares);

}  // namespace het::hetero
