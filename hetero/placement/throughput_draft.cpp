#include "hetero/placement/throughput_draft.h"

#include <algorithm>
#include <limits>

#include "hetero/placement/candidates.h"
#include "hetero/planner/fewer_cuts.h"

namespace het::hetero {
namespace {

/// Of a mix; others get nothing.
constexpr size_t kMostDraftWays = 4;
constexpr double kLeastDraftShare = 0.02;
/// What the busiest device or link may lose on paper for fewer hand-overs.
constexpr double kSlacks[] = {0, 0.03, 0.1, 0.2, 0.4};
/// Prices that are alike.
constexpr double kTie = 0.01;

bool is_same_draft(const std::vector<PlanShare>& a, const std::vector<PlanShare>& b) {
  return std::ranges::equal(a, b, [](const PlanShare& left, const PlanShare& right) {
    return left.assignment == right.assignment;
  });
}

}  // namespace

Result<std::vector<PlanShare>> draft_throughput(const PlanProblem& problem, bool mixed,
                                                const DraftPrice& price) {
  HET_ASSIGN(const ThroughputPlan plan, throughput_plan(problem, {.one_plan = !mixed}));
  std::vector<PlanShare> shares;
  for (const PlanShare& part : plan.plans) {
    if (shares.size() == kMostDraftWays || part.share < kLeastDraftShare) break;
    shares.push_back(part);
  }
  normalise(shares);
  if (mixed && shares.size() < 2) return std::vector<PlanShare>();
  std::vector<PlanShare> best;
  double least = std::numeric_limits<double>::infinity();
  std::vector<PlanShare> last;
  for (const double slack : kSlacks) {
    std::vector<PlanShare> draft = shares;
    for (PlanShare& part : draft) {
      part.assignment = with_fewer_cuts(problem, part.assignment, LinkUse::OnePerPair, slack);
    }
    if (is_same_draft(draft, last)) continue;
    HET_ASSIGN(const double seconds, price(draft));
    if (best.empty() || seconds <= least * (1 + kTie)) best = draft;
    least = std::min(least, seconds);
    last = std::move(draft);
  }
  return best;
}

}  // namespace het::hetero
