#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "hetero/planner/elimination.h"
#include "hetero/planner/latency_plan.h"
#include "hetero/planner/min_cut.h"
#include "hetero/planner/single_device.h"
#include "planner_problems.h"

namespace het::hetero {
namespace {

constexpr size_t kGraphs = 10000;

double latency_or_impossible(const PlanProblem& problem, const Assignment& assignment) {
  return assignment.empty() ? kImpossible : latency(problem, assignment);
}

double eliminate(const PlanProblem& problem) {
  const Elimination elimination(problem);
  EXPECT_TRUE(elimination.fits());
  return latency_or_impossible(problem, elimination.solve(problem));
}

/// unit 0 -> units 1, 2, 3, with a transfer of 1 s everywhere.
PlanProblem fork(size_t devices) {
  PlanProblem problem;
  problem.devices = devices;
  problem.units.assign(4, {std::vector<double>(devices, 1.0)});
  std::vector<double> seconds(devices * devices, 1.0);
  for (size_t d = 0; d < devices; ++d) seconds[d * devices + d] = 0;
  problem.tensors.push_back({0, {1, 2, 3}, false, seconds});
  return problem;
}

TEST(PlanProblem, ACopyIsPaidOncePerPlace) {
  const PlanProblem problem = fork(3);
  EXPECT_EQ(latency(problem, {0, 0, 0, 0}), 4);
  EXPECT_EQ(latency(problem, {0, 1, 1, 1}), 5);
  EXPECT_EQ(latency(problem, {0, 1, 2, 1}), 6);
}

TEST(PlanProblem, ResultsAreNeededAtHome) {
  PlanProblem problem = fork(3);
  problem.tensors[0].leaves = true;
  EXPECT_EQ(latency(problem, {1, 1, 1, 1}), 5);
  EXPECT_EQ(latency(problem, {1, 0, 0, 2}), 6);
  problem.tensors[0].producer = kOutside;
  EXPECT_EQ(latency(problem, {1, 0, 1, 1}), 5);
}

TEST(PlanProblem, SaysWhatIsWrong) {
  const auto message = [](const std::function<void(PlanProblem&)>& spoil) {
    PlanProblem problem = fork(2);
    EXPECT_TRUE(check_problem(problem).ok());
    spoil(problem);
    const Status status = check_problem(problem);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_FALSE(latency_plan(problem));
    return status.message();
  };
  EXPECT_EQ(message([](PlanProblem& p) { p.devices = 0; }),
            "there are 0 devices; 1 to 31 can be planned for");
  EXPECT_EQ(message([](PlanProblem& p) { p.home = 3; }),
            "frames lie in place 3, but there are 2 devices");
  EXPECT_EQ(message([](PlanProblem& p) { p.units[2].seconds = {1}; }),
            "unit 2 has times for 1 devices instead of 2");
  EXPECT_EQ(message([](PlanProblem& p) { p.units[2].seconds[1] = -1; }),
            "unit 2 takes -1 s on device 1");
  EXPECT_EQ(message([](PlanProblem& p) { p.units[0].seconds[0] = std::nan(""); }),
            "unit 0 takes nan s on device 0");
  EXPECT_EQ(message([](PlanProblem& p) { p.tensors[0].producer = 4; }),
            "tensor 0 comes from unit 4 of 4");
  EXPECT_EQ(message([](PlanProblem& p) { p.tensors[0].consumers[1] = 9; }),
            "tensor 0 goes to unit 9 of 4");
  EXPECT_EQ(message([](PlanProblem& p) { p.tensors[0].producer = 1; }),
            "tensor 0 goes from unit 1 to unit 1, which is not behind it");
  EXPECT_EQ(message([](PlanProblem& p) { p.home = 2; }),
            "tensor 0 has 4 transfer times instead of one for each of 3 x 3 places");
  EXPECT_EQ(message([](PlanProblem& p) { p.tensors[0].transfer_seconds[3] = 2; }),
            "tensor 0 takes 2 s from place 1 to place 1");
}

TEST(LatencyPlan, SaysWhichUnitNobodyRuns) {
  PlanProblem problem = fork(2);
  problem.units[2].seconds = {kImpossible, kImpossible};
  const auto plan = latency_plan(problem);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message(), "none of 2 devices runs unit 2");
  problem.units[2].seconds = {kImpossible, 1};
  problem.units[0].seconds = {1, kImpossible};
  problem.tensors[0].transfer_seconds[1] = kImpossible;
  EXPECT_EQ(latency_plan(problem).error().message(),
            "no placement of 4 units has a way for every tensor");
}

TEST(LatencyPlan, EqualPlacementsTakeTheFirstDevice) {
  for (const size_t devices : {1, 2, 3}) {
    EXPECT_EQ(latency_plan(fork(devices))->assignment, Assignment(4, 0)) << devices;
  }
}

TEST(LatencyPlan, NoUnits) {
  PlanProblem problem;
  problem.home = 2;
  for (problem.devices = 1; problem.devices < 4; ++problem.devices) {
    problem.home = problem.devices;
    EXPECT_EQ(latency_plan(problem)->seconds, 0);
  }
}

TEST(LatencyPlan, TwoDevicesEqualBruteForceAndElimination) {
  Random random(1);
  size_t impossible = 0;
  for (size_t i = 0; i < kGraphs; ++i) {
    const PlanProblem problem = random_problem(random, {2, 1 + i % 14});
    ASSERT_TRUE(check_problem(problem).ok()) << check_problem(problem).message();
    const double least = least_latency(problem);
    ASSERT_TRUE(is_close(latency_or_impossible(problem, min_cut(problem)), least))
        << i << ": " << latency_or_impossible(problem, min_cut(problem)) << " instead of " << least
        << "\n"
        << to_text(problem);
    ASSERT_TRUE(is_close(eliminate(problem), least)) << i << "\n" << to_text(problem);
    if (least == kImpossible) ++impossible;
  }
  EXPECT_GT(impossible, kGraphs / 100);
  EXPECT_LT(impossible, kGraphs / 2);
}

TEST(LatencyPlan, ThreeDevicesEqualBruteForce) {
  Random random(2);
  for (size_t i = 0; i < kGraphs; ++i) {
    const PlanProblem problem = random_problem(random, {3, 1 + i % 10});
    const double least = least_latency(problem);
    ASSERT_TRUE(is_close(eliminate(problem), least))
        << i << ": " << eliminate(problem) << " instead of " << least << "\n"
        << to_text(problem);
  }
}

TEST(LatencyPlan, FourDevicesEqualBruteForce) {
  Random random(3);
  for (size_t i = 0; i < 500; ++i) {
    const PlanProblem problem = random_problem(random, {4, 1 + i % 7});
    ASSERT_TRUE(is_close(eliminate(problem), least_latency(problem))) << i << "\n"
                                                                      << to_text(problem);
  }
}

TEST(LatencyPlan, OnePreparationServesOtherTimes) {
  Random random(4);
  for (size_t i = 0; i < 200; ++i) {
    PlanProblem problem = random_problem(random, {3, 8});
    const LatencySolver solver(problem);
    EXPECT_EQ(solver.method(), LatencyMethod::Elimination);
    for (int again = 0; again < 3; ++again) {
      ASSERT_TRUE(is_close(solver.solve(problem).seconds, least_latency(problem))) << i;
      for (PlanUnit& unit : problem.units) unit.seconds[random() % 3] *= 0.5;
      for (PlanTensor& tensor : problem.tensors) {
        for (double& seconds : tensor.transfer_seconds) seconds *= 1.5;
      }
    }
  }
}

/// Where tables are too large: never below the optimum, never above a single device, near in
/// the mean, and said to be inexact.
TEST(LatencyPlan, PairMovesAreNearTheOptimum) {
  Random random(5);
  double excess = 0;
  size_t counted = 0;
  for (size_t i = 0; i < 1000; ++i) {
    const PlanProblem problem = random_possible_problem(random, {3, 9});
    const LatencySolver narrow(problem, 1);
    ASSERT_EQ(narrow.method(), LatencyMethod::PairMoves);
    const LatencyPlan plan = narrow.solve(problem);
    EXPECT_FALSE(plan.is_exact());
    const double least = LatencySolver(problem).solve(problem).seconds;
    ASSERT_GE(plan.seconds, least * (1 - 1e-9));
    ASSERT_LE(plan.seconds, best_single_device(problem).seconds * (1 + 1e-9));
    if (least > 0) excess += plan.seconds / least - 1, ++counted;
  }
  EXPECT_LT(excess / static_cast<double>(counted), 0.003);
}

TEST(LatencyPlan, WorkGrowsWithTheUnitsWhereTheGraphIsNarrow) {
  Random random(10);
  const PlanProblem problem = residual_problem(random, {3, 1000});
  EXPECT_LT(Elimination(problem).entries(), 100'000u);
  const LatencyPlan plan = *latency_plan(problem);
  EXPECT_EQ(plan.method, LatencyMethod::Elimination);
  EXPECT_LT(plan.seconds, best_single_device(problem).seconds);
  EXPECT_LE(plan.seconds, LatencySolver(problem, 1).solve(problem).seconds * (1 + 1e-9));
}

TEST(LatencyPlan, AWideGraphIsNotExact) {
  Random random(10);
  const PlanProblem wide = dense_problem(random, {3, 30});
  EXPECT_FALSE(Elimination(wide).fits());
  const LatencyPlan plan = *latency_plan(wide);
  EXPECT_FALSE(plan.is_exact());
  EXPECT_LE(plan.seconds, best_single_device(wide).seconds);
  EXPECT_EQ(latency(wide, plan.assignment), plan.seconds);
  EXPECT_TRUE(latency_plan(dense_problem(random, {2, 30}))->is_exact());
}

TEST(LatencyPlan, APairMoveIsTheBestOfItsUnits) {
  Random random(6);
  for (size_t i = 0; i < 1000; ++i) {
    PlanProblem problem = random_problem(random, {4, 7});
    Assignment start(problem.units.size());
    for (size_t& device : start) device = random() % 4;
    const double moved = latency(problem, best_pair_move(problem, start, 3, 1));
    for (size_t unit = 0; unit < start.size(); ++unit) {
      for (size_t d = 0; d < 4; ++d) {
        const bool stays = start[unit] == d && d % 2 == 0;
        const bool moves = start[unit] % 2 == 1 && d % 2 == 1;
        if (!stays && !moves) problem.units[unit].seconds[d] = kImpossible;
      }
    }
    ASSERT_TRUE(is_close(moved, least_latency(problem))) << i << "\n" << to_text(problem);
  }
}

TEST(LatencyPlan, DearerTransfersNeverLowerTheOptimum) {
  Random random(7);
  for (size_t i = 0; i < 2000; ++i) {
    PlanProblem problem = random_problem(random, {2 + i % 2, 10});
    const double before = LatencySolver(problem).solve(problem).seconds;
    PlanTensor& tensor = problem.tensors[random() % problem.tensors.size()];
    const size_t places = problem.places();
    const size_t from = random() % places;
    const size_t to = (from + 1) % places;
    if (from == to) continue;
    tensor.transfer_seconds[from * places + to] += 0.5;
    ASSERT_GE(LatencySolver(problem).solve(problem).seconds, before * (1 - 1e-9)) << i;
  }
}

TEST(LatencyPlan, AnotherDeviceNeverRaisesTheOptimum) {
  Random random(8);
  size_t lowered = 0;
  for (size_t i = 0; i < 2000; ++i) {
    PlanProblem problem = random_problem(random, {3, 10});
    const double with = LatencySolver(problem).solve(problem).seconds;
    const bool is_home_left = problem.home != 2;
    if (!is_home_left) continue;
    // Without device 2; the host, where it is a place of its own, moves up.
    PlanProblem less = problem;
    less.devices = 2;
    less.home = std::min<size_t>(problem.home, 2);
    for (PlanUnit& unit : less.units) unit.seconds.pop_back();
    for (PlanTensor& tensor : less.tensors) {
      tensor.transfer_seconds.clear();
      for (size_t from = 0; from < problem.places(); ++from) {
        for (size_t to = 0; to < problem.places(); ++to) {
          if (from == 2 || to == 2) continue;
          const PlanTensor& old = problem.tensors[static_cast<size_t>(&tensor - &less.tensors[0])];
          tensor.transfer_seconds.push_back(old.transfer_seconds[from * problem.places() + to]);
        }
      }
    }
    ASSERT_TRUE(check_problem(less).ok()) << check_problem(less).message();
    const double without = LatencySolver(less).solve(less).seconds;
    ASSERT_LE(with, without * (1 + 1e-9)) << i;
    lowered += with < without * 0.99;
  }
  EXPECT_GT(lowered, 500u);
}

TEST(LatencyPlan, FreeTransfersGiveTheSumOfTheFastest) {
  Random random(9);
  for (size_t i = 0; i < 500; ++i) {
    PlanProblem problem = random_possible_problem(random, {2 + i % 3, 40});
    double sum = 0;
    for (const PlanUnit& unit : problem.units) sum += *std::ranges::min_element(unit.seconds);
    for (PlanTensor& tensor : problem.tensors) std::ranges::fill(tensor.transfer_seconds, 0.0);
    const LatencySolver solver(problem, size_t{1} << 16);
    ASSERT_TRUE(is_close(solver.solve(problem).seconds, sum)) << i;
  }
}

}  // namespace
}  // namespace het::hetero
