// Drafts of throughput plans by their price, and which candidate is the best.
#include "hetero/placement/candidates.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "hetero/placement/throughput_draft.h"
#include "hetero/planner/fewer_cuts.h"
#include "hetero/planner/simulator.h"

namespace het::hetero {
namespace {

/// A chain whose units are a little faster on one of two devices, in turn.
PlanProblem zigzag() {
  PlanProblem problem;
  problem.devices = 2;
  const std::vector<double> free(4, 0.0);
  for (size_t unit = 0; unit < 12; ++unit) {
    problem.units.push_back({unit % 2 == 0 ? std::vector{1.0, 1.1} : std::vector{1.1, 1.0}});
    if (unit > 0) problem.tensors.push_back({unit - 1, {unit}, false, free});
  }
  return problem;
}

double busiest(const PlanProblem& problem, const PlanShare& part) {
  return period(problem, part.assignment, LinkUse::OnePerPair);
}

TEST(ThroughputDraft, HandOversAreTakenWhereTheyCostNothing) {
  const PlanProblem problem = zigzag();
  const auto draft = draft_throughput(
      problem, /*mixed=*/false,
      [&](const auto& shares) -> Result<double> { return busiest(problem, shares[0]); });
  ASSERT_TRUE(draft) << draft.error().message();
  ASSERT_EQ(draft->size(), 1u);
  EXPECT_DOUBLE_EQ(busiest(problem, draft->front()), 6.0);
  EXPECT_EQ(count_transfers(problem, draft->front().assignment), 11u);
}

TEST(ThroughputDraft, ABusierDeviceIsTakenForFewerHandOversThatCost) {
  const PlanProblem problem = zigzag();
  const auto draft =
      draft_throughput(problem, /*mixed=*/false, [&](const auto& shares) -> Result<double> {
        return busiest(problem, shares[0]) +
               0.2 * static_cast<double>(count_transfers(problem, shares[0].assignment));
      });
  ASSERT_TRUE(draft) << draft.error().message();
  EXPECT_LE(count_transfers(problem, draft->front().assignment), 5u);
  EXPECT_LE(busiest(problem, draft->front()), 6.0 * 1.4);
}

TEST(ThroughputDraft, OfPricesThatAreAlikeTheOneWithFewestHandOvers) {
  const PlanProblem problem = zigzag();
  const auto draft =
      draft_throughput(problem, /*mixed=*/false, [](const auto&) -> Result<double> { return 1.0; });
  ASSERT_TRUE(draft) << draft.error().message();
  EXPECT_LE(count_transfers(problem, draft->front().assignment), 5u);
}

TEST(ThroughputDraft, ThereIsNoMixWhereOnePlanIsBest) {
  PlanProblem problem;
  problem.devices = 1;
  problem.units.push_back({{1.0}});
  const auto draft =
      draft_throughput(problem, /*mixed=*/true, [](const auto&) -> Result<double> { return 1.0; });
  ASSERT_TRUE(draft) << draft.error().message();
  EXPECT_TRUE(draft->empty());
}

PlanCandidate candidate(double ms, size_t subgraphs) {
  PlanCandidate made;
  made.is_single = subgraphs == 1;
  made.measured_ms = ms;
  CandidateWay& way = made.ways.emplace_back();
  way.placement.split.subgraphs.resize(subgraphs);
  return made;
}

size_t best_of(const std::vector<std::pair<double, size_t>>& times_and_subgraphs) {
  std::vector<PlanCandidate> all;
  for (const auto& [ms, subgraphs] : times_and_subgraphs) {
    all.push_back(candidate(ms, subgraphs));
  }
  return best_candidate(all, 0.03);
}

TEST(BestCandidate, SeveralDevicesHaveToBeClearlyBetterThanOne) {
  EXPECT_EQ(best_of({{10, 1}, {9.8, 2}}), 0u);
  EXPECT_EQ(best_of({{10, 1}, {9.6, 2}}), 1u);
  EXPECT_EQ(best_of({{12, 1}, {10, 1}}), 1u);
  EXPECT_EQ(best_of({{12, 2}, {10, 3}}), 1u);
}

TEST(BestCandidate, OfAlmostTheSameTimesTheOneWithFewestSubgraphs) {
  EXPECT_EQ(best_of({{10, 1}, {5.0, 90}, {5.09, 20}, {5.05, 30}}), 2u);
  EXPECT_EQ(best_of({{10, 1}, {5.0, 90}, {5.2, 20}}), 1u);
}

TEST(AddWay, TheSameWayHasOneShare) {
  std::vector<CandidateWay> ways;
  for (const auto& [devices, share] :
       {std::pair{std::vector<size_t>{0, 1}, 0.5}, {{1, 1}, 0.2}, {{0, 1}, 0.3}}) {
    CandidateWay way;
    way.placement.devices = devices;
    way.share = share;
    add_way(ways, std::move(way));
  }
  ASSERT_EQ(ways.size(), 2u);
  EXPECT_DOUBLE_EQ(ways[0].share, 0.8);
  EXPECT_DOUBLE_EQ(ways[1].share, 0.2);
}

PlanCandidate measured(double ms, double undisturbed_ms) {
  PlanCandidate made = candidate(ms, 1);
  made.undisturbed_ms = undisturbed_ms;
  made.most_ms = ms;
  return made;
}

TEST(CertainlyBetter, SeveralDevicesThanOneThatNothingDisturbed) {
  const PlanCandidate several = measured(9, 8.8);
  EXPECT_TRUE(is_certainly_better(several, measured(10, 10), 0.03));
  EXPECT_FALSE(is_certainly_better(several, measured(9.2, 9.2), 0.03));
}

TEST(CertainlyBetter, NotWhereTheyWereSlowerOnce) {
  PlanCandidate several = measured(8, 8);
  several.most_ms = 9.8;
  EXPECT_FALSE(is_certainly_better(several, measured(10, 10), 0.03));
}

TEST(CertainlyBetter, NotThanOneThatIsAsFastUndisturbed) {
  const PlanCandidate several = measured(4.6, 4.5);
  EXPECT_TRUE(is_certainly_better(several, measured(5.5, 5), 0.03));
  EXPECT_FALSE(is_certainly_better(several, measured(5.5, 3.3), 0.03));
}

}  // namespace
}  // namespace het::hetero
