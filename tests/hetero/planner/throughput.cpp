#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "hetero/planner/fewer_cuts.h"
#include "hetero/planner/latency_plan.h"
#include "hetero/planner/mix_program.h"
#include "hetero/planner/period_search.h"
#include "hetero/planner/throughput_plan.h"
#include "planner_problems.h"

namespace het::hetero {
namespace {

std::vector<double> all_loads(const PlanProblem& problem, const Assignment& assignment,
                              LinkUse links = LinkUse::OnePerPair) {
  const Loads load = loads(problem, assignment, links);
  std::vector<double> all = load.devices;
  all.insert(all.end(), load.links.begin(), load.links.end());
  return all;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void for_each_possible(const PlanProblem& problem,
                       const std::function<void(const Assignment&)>& visit) {
  enumerate(
      problem, [] { return kImpossible; }, [&](const Assignment& a, double) { visit(a); });
}

/// Seconds of the busiest device or link for a frame of the mix.
double mix_period(const PlanProblem& problem, const ThroughputPlan& plan, LinkUse links) {
  std::vector<double> sum;
  for (const PlanShare& part : plan.plans) {
    std::vector<double> load = all_loads(problem, part.assignment, links);
    sum.resize(load.size(), 0.0);
    for (size_t i = 0; i < load.size(); ++i) sum[i] += part.share * load[i];
  }
  return *std::ranges::max_element(sum);
}

/// `count` units one behind the other without transfers, as fast on all devices.
PlanProblem chain(size_t devices, size_t count, double transfer) {
  PlanProblem problem;
  problem.devices = devices;
  problem.home = 0;
  problem.units.assign(count, {std::vector<double>(devices, 1.0)});
  std::vector<double> seconds(devices * devices, transfer);
  for (size_t d = 0; d < devices; ++d) seconds[d * devices + d] = 0;
  for (size_t unit = 0; unit + 1 < count; ++unit) {
    problem.tensors.push_back({unit, {unit + 1}, false, seconds});
  }
  return problem;
}

TEST(MixProgram, KnownOptima) {
  MixProgram program(2);
  program.add_plan({1.0, 0.0});
  program.solve();
  EXPECT_DOUBLE_EQ(program.total(), 1);
  program.add_plan({0.0, 4.0});
  program.solve();
  EXPECT_DOUBLE_EQ(program.total(), 1.25);
  EXPECT_EQ(program.prices(), (std::vector<double>{1, 0.25}));
  program.add_plan({0.5, 0.5});
  program.solve();
  EXPECT_DOUBLE_EQ(program.total(), 2);
  EXPECT_EQ(program.rates(), (std::vector<double>{0, 0, 2}));
}

/// Feasible rates and feasible prices of the same sum prove each other best.
TEST(MixProgram, RatesAndPricesAgree) {
  Random random(21);
  for (int i = 0; i < 1000; ++i) {
    const size_t resources = 1 + random() % 12;
    MixProgram program(resources);
    std::vector<std::vector<double>> plans;
    for (int added = 0; added < 40; ++added) {
      std::vector<double> work(resources, 0.0);
      for (double& seconds : work) {
        if (random() % 3) seconds = static_cast<double>(random() % (i % 2 ? 5 : 1000));
      }
      if (*std::ranges::max_element(work) == 0) work[0] = 1;
      plans.push_back(work);
      program.add_plan(std::move(work));
      if (added % 4) continue;
      program.solve();
      const std::vector<double> rates = program.rates();
      const std::vector<double> prices = program.prices();
      for (size_t r = 0; r < resources; ++r) {
        double used = 0;
        for (size_t p = 0; p < plans.size(); ++p) used += rates[p] * plans[p][r];
        ASSERT_LE(used, 1 + 1e-8) << i;
      }
      for (size_t p = 0; p < plans.size(); ++p) {
        ASSERT_GE(rates[p], 0) << i;
        ASSERT_GE(product(prices, plans[p]), 1 - 1e-8) << i;
      }
      const double sum = std::accumulate(prices.begin(), prices.end(), 0.0);
      ASSERT_NEAR(sum, program.total(), 1e-8 * sum) << i;
    }
  }
}

/// MULTI: two devices that each run everything, because transfers would cost more.
TEST(ThroughputPlan, WholeModelsSideBySide) {
  PlanProblem problem = chain(2, 4, 10.0);
  for (PlanUnit& unit : problem.units) unit.seconds = {0.25, 1.0};
  const ThroughputPlan plan = *throughput_plan(problem);
  ASSERT_EQ(plan.plans.size(), 2u);
  EXPECT_EQ(plan.plans[0].assignment, Assignment(4, 0));
  EXPECT_EQ(plan.plans[1].assignment, Assignment(4, 1));
  EXPECT_NEAR(plan.frames_per_second, 1.25, 1e-6);
  EXPECT_NEAR(plan.plans[0].share, 0.8, 1e-6);
  EXPECT_TRUE(plan.is_exact());
}

TEST(ThroughputPlan, ASlowDeviceIsLeftAlone) {
  PlanProblem problem = chain(2, 4, 0.0);
  problem.home = 0;
  for (PlanUnit& unit : problem.units) unit.seconds[1] = kImpossible;
  const ThroughputPlan plan = *throughput_plan(problem);
  ASSERT_EQ(plan.plans.size(), 1u);
  EXPECT_NEAR(plan.frames_per_second, 0.25, 1e-9);
  EXPECT_NEAR(plan.prices[0], 1, 1e-9);
}

TEST(ThroughputPlan, OnePlanSplitsAChain) {
  const PlanProblem problem = chain(3, 9, 0.5);
  ThroughputOptions options;
  options.one_plan = true;
  const ThroughputPlan plan = *throughput_plan(problem, options);
  ASSERT_EQ(plan.plans.size(), 1u);
  EXPECT_EQ(plan.plans[0].share, 1);
  EXPECT_NEAR(plan.frames_per_second, 1.0 / 3, 1e-9);
  EXPECT_NEAR(plan.bound_frames_per_second, 1.0 / 3, 1e-6);
}

TEST(ThroughputPlan, AFrameThatTakesNoTime) {
  PlanProblem problem = chain(3, 4, 1.0);
  for (PlanUnit& unit : problem.units) unit.seconds[2] = 0;
  EXPECT_EQ(throughput_plan(problem)->frames_per_second, kImpossible);
  for (PlanUnit& unit : problem.units) unit.seconds = {0, 1, kImpossible};
  EXPECT_EQ(throughput_plan(problem)->frames_per_second, kImpossible);
  // Alternating devices: only transfers take time, and links count for nothing.
  for (size_t unit = 0; unit < 4; ++unit) {
    problem.units[unit].seconds = {unit % 2 ? 0.0 : 1.0, unit % 2 ? 1.0 : 0.0, 1.0};
  }
  ThroughputOptions options;
  EXPECT_LT(throughput_plan(problem, options)->frames_per_second, kImpossible);
  options.links = LinkUse::None;
  const auto plan = throughput_plan(problem, options);
  EXPECT_EQ(plan->frames_per_second, kImpossible);
  EXPECT_EQ(plan->plans[0].assignment, (Assignment{1, 0, 1, 0}));
}

/// Against all placements as columns: the shares keep every device and link at most busy, and
/// prices that no placement undercuts prove that no mix has more frames.
TEST(ThroughputPlan, NoMixOfAllPlacementsIsBetter) {
  Random random(22);
  size_t mixes = 0, planned = 0;
  for (size_t i = 0; i < 2000; ++i) {
    const PlanProblem problem = random_problem(random, {2 + i % 2, 1 + i % 7});
    ThroughputOptions options;
    options.links = i % 5 ? LinkUse::OnePerPair : LinkUse::None;
    const auto plan = throughput_plan(problem, options);
    ASSERT_EQ(plan.has_value(), least_latency(problem) < kImpossible);
    if (!plan || plan->frames_per_second == kImpossible) continue;
    ++planned;
    mixes += plan->plans.size() > 1;
    double shares = 0;
    for (const PlanShare& part : plan->plans) shares += part.share;
    ASSERT_NEAR(shares, 1, 1e-9);
    ASSERT_NEAR(mix_period(problem, *plan, options.links) * plan->frames_per_second, 1, 1e-5) << i;
    // The prices' proof, with the test's own list of placements.
    double least = kImpossible;
    double best_single = 0;
    for_each_possible(problem, [&](const Assignment& assignment) {
      const std::vector<double> load = all_loads(problem, assignment, options.links);
      least = std::min(least, product(plan->prices, load));
      const bool is_single = std::ranges::count(assignment, assignment[0]) ==
                             static_cast<ptrdiff_t>(assignment.size());
      if (is_single) best_single = std::max(best_single, 1 / *std::ranges::max_element(load));
    });
    ASSERT_NEAR(std::accumulate(plan->prices.begin(), plan->prices.end(), 0.0), 1, 1e-9);
    ASSERT_GE(plan->frames_per_second, 1 / least * (1 - 1e-5)) << i << "\n" << to_text(problem);
    ASSERT_GE(plan->bound_frames_per_second, 1 / least * (1 - 1e-9)) << i;
    ASSERT_TRUE(plan->is_exact()) << i << "\n" << to_text(problem);
    ASSERT_GE(plan->frames_per_second, best_single * (1 - 1e-9)) << i;
  }
  EXPECT_GT(planned, 1200u);
  EXPECT_GT(mixes, planned / 2);
}

TEST(ThroughputPlan, OnePlanIsNearTheBestOne) {
  Random random(23);
  double excess = 0, worst = 0;
  size_t best = 0, planned = 0;
  for (size_t i = 0; i < 600; ++i) {
    const PlanProblem problem = random_problem(random, {2 + i % 2, 1 + i % 8});
    ThroughputOptions options;
    options.one_plan = true;
    const auto plan = throughput_plan(problem, options);
    if (!plan || plan->frames_per_second == kImpossible) continue;
    ++planned;
    ASSERT_EQ(plan->plans.size(), 1u);
    const double found = period(problem, plan->plans[0].assignment, options.links);
    ASSERT_TRUE(is_close(found, 1 / plan->frames_per_second));
    double least = kImpossible;
    double least_single = kImpossible;
    for_each_possible(problem, [&](const Assignment& assignment) {
      const double seconds = period(problem, assignment, options.links);
      least = std::min(least, seconds);
      const bool is_single = std::ranges::count(assignment, assignment[0]) ==
                             static_cast<ptrdiff_t>(assignment.size());
      if (is_single) least_single = std::min(least_single, seconds);
    });
    ASSERT_GE(found, least * (1 - 1e-9)) << i;
    ASSERT_LE(found, least_single * (1 + 1e-9)) << i;
    ASSERT_LE(plan->frames_per_second, plan->bound_frames_per_second * (1 + 1e-9)) << i;
    excess += found / least - 1;
    worst = std::max(worst, found / least - 1);
    best += is_close(found, least);
  }
  EXPECT_LT(excess / static_cast<double>(planned), 0.003) << "at worst " << worst;
  EXPECT_GT(best, planned * 9 / 10) << planned;
}

TEST(ThroughputPlan, LargeGraphs) {
  Random random(26);
  const PlanProblem large = residual_problem(random, {3, 600});
  const ThroughputPlan plan = *throughput_plan(large);
  EXPECT_TRUE(plan.is_exact());
  // A plan for each device and each link that is full, at most.
  const auto full = std::ranges::count_if(plan.prices, [](double price) { return price > 0; });
  EXPECT_LE(plan.plans.size(), static_cast<size_t>(full));
  EXPECT_NEAR(mix_period(large, plan, LinkUse::OnePerPair) * plan.frames_per_second, 1, 1e-5);
  ThroughputOptions options;
  options.one_plan = true;
  const ThroughputPlan one = *throughput_plan(large, options);
  EXPECT_LE(one.frames_per_second, plan.frames_per_second * (1 + 1e-6));
  EXPECT_GT(one.frames_per_second, plan.frames_per_second * 0.95);
  const PlanProblem wide = dense_problem(random, {3, 30});
  const ThroughputPlan inexact = *throughput_plan(wide);
  EXPECT_FALSE(inexact.is_exact());
  EXPECT_EQ(inexact.bound_frames_per_second, kImpossible);
  for (size_t device = 0; device < 3; ++device) {
    const double single = period(wide, Assignment(30, device), LinkUse::OnePerPair);
    EXPECT_GE(inexact.frames_per_second * single, 1 - 1e-9);
  }
}

/// Times changed on purpose: never fewer frames than the best single device has.
TEST(ThroughputPlan, NoTimesMakeItSlowerThanASingleDevice) {
  Random random(24);
  for (size_t i = 0; i < 8; ++i) {
    PlanProblem problem = random_possible_problem(random, {2 + i % 3, 10});
    double worst = 0;
    for (int step = 0; step < 60; ++step) {
      PlanProblem changed = problem;
      const double factor = std::exp2(static_cast<double>(random() % 9) - 4);
      if (random() % 2) {
        changed.units[random() % 10].seconds[random() % problem.devices] *= factor;
      } else {
        PlanTensor& tensor = changed.tensors[random() % changed.tensors.size()];
        tensor.transfer_seconds[random() % tensor.transfer_seconds.size()] *= factor;
      }
      ThroughputOptions options;
      options.one_plan = step % 2;
      const ThroughputPlan plan = *throughput_plan(changed, options);
      double single = kImpossible;
      for (size_t device = 0; device < problem.devices; ++device) {
        single = std::min(single, period(changed, Assignment(10, device), options.links));
      }
      ASSERT_GE(plan.frames_per_second * single, 1 - 1e-9) << to_text(changed);
      const double ratio = 1 / (plan.frames_per_second * single);
      if (ratio < worst) continue;
      worst = ratio;
      problem = std::move(changed);
    }
    EXPECT_GT(worst, 0.2);
  }
}

TEST(PeriodSearch, NeverLongerAndKeepsWhatIsPossible) {
  Random random(25);
  size_t shorter = 0;
  for (size_t i = 0; i < 300; ++i) {
    const PlanProblem problem = random_problem(random, {3, 15});
    const auto start = latency_plan(problem);
    if (!start) continue;
    const double before = period(problem, start->assignment, LinkUse::OnePerPair);
    const Assignment found = improve_period(problem, start->assignment, LinkUse::OnePerPair);
    const double after = period(problem, found, LinkUse::OnePerPair);
    ASSERT_LE(after, before);
    ASSERT_LT(latency(problem, found), kImpossible);
    shorter += after < before * 0.9;
  }
  EXPECT_GT(shorter, 100u);
}

TEST(FewerCuts, NeverLongerThanAllowedAndNeverMoreTransfers) {
  size_t less = 0;
  Random random(5);
  for (int seed = 0; seed < 300; ++seed) {
    const PlanProblem problem = random_problem(random, {3, 12});
    const auto plan = throughput_plan(problem, {.one_plan = true});
    if (!plan) continue;
    const Assignment& before = plan->plans[0].assignment;
    const Assignment after = with_fewer_cuts(problem, before, LinkUse::OnePerPair, 0.1);
    const double longest = period(problem, before, LinkUse::OnePerPair) * 1.1;
    EXPECT_LE(period(problem, after, LinkUse::OnePerPair), longest * (1 + 1e-9)) << seed;
    EXPECT_LE(count_transfers(problem, after), count_transfers(problem, before)) << seed;
    less += count_transfers(problem, after) < count_transfers(problem, before);
  }
  EXPECT_GT(less, 10u);
}

TEST(FewerCuts, BalancedHalvesInsteadOfManyPieces) {
  const PlanProblem problem = chain(2, 12, 0.0);
  Assignment stripes(12);
  for (size_t unit = 0; unit < stripes.size(); ++unit) stripes[unit] = unit % 2;
  EXPECT_EQ(count_transfers(problem, stripes), 11u);
  const Assignment after = with_fewer_cuts(problem, stripes, LinkUse::OnePerPair, 0.2);
  EXPECT_LE(count_transfers(problem, after), 5u);
  EXPECT_LE(period(problem, after, LinkUse::OnePerPair), 6 * 1.2);
}

}  // namespace
}  // namespace het::hetero
