#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hetero/planner/latency_plan.h"
#include "hetero/planner/list_schedule.h"
#include "hetero/planner/parallel_plan.h"
#include "hetero/planner/single_device.h"
#include "planner_problems.h"

namespace het::hetero {
namespace {

std::vector<size_t> natural_order(const PlanProblem& problem) {
  std::vector<size_t> order(problem.units.size());
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

bool is_topological(const PlanProblem& problem, const std::vector<size_t>& order) {
  std::vector<size_t> position(problem.units.size(), problem.units.size());
  if (order.size() != position.size()) return false;
  for (size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  if (std::ranges::find(position, problem.units.size()) != position.end()) return false;
  return std::ranges::all_of(problem.tensors, [&](const PlanTensor& tensor) {
    return tensor.producer == kOutside ||
           std::ranges::all_of(tensor.consumers, [&](size_t consumer) {
             return position[tensor.producer] < position[consumer];
           });
  });
}

PlanTensor tensor_of(size_t producer, std::vector<size_t> consumers, double seconds,
                     size_t places) {
  std::vector<double> all(places * places, seconds);
  for (size_t place = 0; place < places; ++place) all[place * places + place] = 0;
  return {producer, std::move(consumers), false, std::move(all)};
}

/// 0 -> {1, 2} -> 3 on two devices of equal speed and a host.
PlanProblem diamond(double transfer) {
  PlanProblem problem;
  problem.devices = 2;
  problem.home = 0;
  for (const double seconds : {1.0, 4.0, 3.0, 1.0}) {
    problem.units.push_back({{seconds, seconds}});
  }
  problem.tensors.push_back(tensor_of(kOutside, {0}, transfer, 2));
  problem.tensors.push_back(tensor_of(0, {1, 2}, transfer, 2));
  problem.tensors.push_back(tensor_of(1, {3}, transfer, 2));
  problem.tensors.push_back(tensor_of(2, {3}, transfer, 2));
  problem.tensors.push_back(tensor_of(3, {}, transfer, 2));
  problem.tensors.back().leaves = true;
  return problem;
}

TEST(Simulator, BranchesOverlap) {
  const PlanProblem problem = diamond(0.25);
  Simulator simulator(problem, LinkUse::OnePerPair);
  EXPECT_DOUBLE_EQ(simulator.makespan({{0, 0, 0, 0}, {0, 1, 2, 3}}), 9);
  const Timeline timeline = simulator.timeline({{0, 0, 1, 0}, {0, 2, 1, 3}});
  EXPECT_EQ(timeline.start, (std::vector<double>{0, 1, 1.25, 5}));
  EXPECT_EQ(timeline.finish, (std::vector<double>{1, 5, 4.25, 6}));
  EXPECT_DOUBLE_EQ(timeline.makespan, 6);
  // The result comes back from device 1.
  EXPECT_DOUBLE_EQ(simulator.makespan({{0, 0, 1, 1}, {0, 1, 2, 3}}), 6.5);
}

TEST(Simulator, ADeviceKeepsItsOrder) {
  PlanProblem problem = diamond(0.25);
  // Unit 2 waits for unit 1 although it could run before.
  problem.units[1].seconds = {4, 1};
  Simulator simulator(problem, LinkUse::OnePerPair);
  EXPECT_DOUBLE_EQ(simulator.timeline({{0, 1, 1, 0}, {0, 1, 2, 3}}).start[2], 2.25);
  EXPECT_DOUBLE_EQ(simulator.timeline({{0, 1, 1, 0}, {0, 2, 1, 3}}).start[1], 4.25);
}

TEST(Simulator, LinksTakeOneTransferAtATime) {
  PlanProblem problem;
  problem.devices = 1;
  problem.home = 1;
  problem.units.assign(2, {{1.0}});
  problem.tensors.push_back(tensor_of(kOutside, {1}, 3, 2));
  problem.tensors.push_back(tensor_of(kOutside, {0}, 2, 2));
  for (const size_t unit : {0, 1}) {
    problem.tensors.push_back(tensor_of(unit, {}, 5, 2));
    problem.tensors.back().leaves = true;
  }
  const Schedule schedule{{0, 0}, {0, 1}};
  // In: 0-2 for unit 0, 2-5 for unit 1. Out: 3-8, and 8-13 instead of 6-11.
  const Timeline one = Simulator(problem, LinkUse::OnePerPair).timeline(schedule);
  EXPECT_EQ(one.start, (std::vector<double>{2, 5}));
  EXPECT_DOUBLE_EQ(one.makespan, 13);
  const Timeline many = Simulator(problem, LinkUse::None).timeline(schedule);
  EXPECT_EQ(many.start, (std::vector<double>{2, 3}));
  EXPECT_DOUBLE_EQ(many.makespan, 9);
  const Loads load = loads(problem, {0, 0}, LinkUse::OnePerPair);
  EXPECT_EQ(load.devices, (std::vector<double>{2}));
  EXPECT_EQ(load.links, (std::vector<double>{0, 10, 5, 0}));
  EXPECT_DOUBLE_EQ(period(problem, {0, 0}, LinkUse::OnePerPair), 10);
  EXPECT_DOUBLE_EQ(period(problem, {0, 0}, LinkUse::None), 2);
}

/// The makespan lies between what is the busiest and all in a row; times that become shorter never
/// make it longer; loads sum up to the latency.
TEST(Simulator, Bounds) {
  Random random(11);
  for (size_t i = 0; i < 2000; ++i) {
    PlanProblem problem = random_possible_problem(random, {3, 12});
    Schedule schedule{Assignment(12), natural_order(problem)};
    for (size_t& device : schedule.assignment) device = random() % 3;
    Simulator simulator(problem, LinkUse::OnePerPair);
    const double makespan = simulator.makespan(schedule);
    const double all = latency(problem, schedule.assignment);
    ASSERT_LE(makespan, all * (1 + 1e-9));
    ASSERT_GE(makespan, period(problem, schedule.assignment, LinkUse::OnePerPair) * (1 - 1e-9));
    const Loads load = loads(problem, schedule.assignment, LinkUse::OnePerPair);
    const double sum = std::accumulate(load.devices.begin(), load.devices.end(), 0.0) +
                       std::accumulate(load.links.begin(), load.links.end(), 0.0);
    ASSERT_TRUE(is_close(sum, all));
    for (PlanUnit& unit : problem.units) unit.seconds[random() % 3] *= 0.9;
    for (PlanTensor& tensor : problem.tensors) {
      for (double& seconds : tensor.transfer_seconds) seconds *= random() % 2 ? 1.0 : 0.5;
    }
    ASSERT_LE(simulator.makespan(schedule), makespan * (1 + 1e-9));
  }
}

TEST(ListSchedule, RanksAreThosePublished) {
  PlanProblem problem = diamond(0.25);
  problem.units[1].seconds = {2, 6};
  const std::vector<double> upward = upward_rank(problem);
  EXPECT_EQ(upward, (std::vector<double>{1 + 0.25 + 5.375, 5.375, 4.375, 1.125}));
  // Unit 1: 4 s on average, 2 s apart from it. Transfers: 0.25 s twice over two devices.
  const std::vector<double> rank = one_rank(problem);
  EXPECT_DOUBLE_EQ(rank[3], 1e6 + 0.125e6);
  EXPECT_DOUBLE_EQ(rank[2], 3e6 + 0.25e6 + rank[3]);
  EXPECT_DOUBLE_EQ(rank[1], 4e6 * 2e6 + 0.25e6 + rank[3]);
  EXPECT_DOUBLE_EQ(rank[0], 1e6 + 0.25e6 + rank[1]);
}

TEST(ListSchedule, BranchesGoToBothDevices) {
  const PlanProblem problem = diamond(0.25);
  const Schedule schedule = list_schedule(problem, upward_rank(problem), LinkUse::OnePerPair);
  EXPECT_EQ(schedule.assignment, (Assignment{0, 0, 1, 0}));
  EXPECT_DOUBLE_EQ(Simulator(problem, LinkUse::OnePerPair).makespan(schedule), 6);
}

TEST(ListSchedule, OrdersAreTopological) {
  Random random(12);
  for (size_t i = 0; i < 500; ++i) {
    const PlanProblem problem = random_problem(random, {3, 20});
    ASSERT_TRUE(is_topological(
        problem, list_schedule(problem, upward_rank(problem), LinkUse::OnePerPair).order));
    ASSERT_TRUE(is_topological(problem, rank_order(problem, one_rank(problem))));
  }
}

TEST(ParallelPlan, OverlapsOnlyWhereItPays) {
  const ParallelPlan near = *parallel_plan(diamond(0.25));
  EXPECT_DOUBLE_EQ(near.seconds, 6);
  EXPECT_DOUBLE_EQ(near.single_seconds, 9);
  const ParallelPlan far = *parallel_plan(diamond(3));
  EXPECT_DOUBLE_EQ(far.seconds, 9);
  EXPECT_EQ(far.origin, ParallelOrigin::SingleDevice);
}

/// Least makespan by branch and bound: placements unit by unit, then orders, with units in the
/// order of their starts. A frame's inputs have a link of their own, which can only shorten.
class BranchAndBound {
 public:
  BranchAndBound(const PlanProblem& problem, double incumbent)
      : problem_(problem),
        tensors_(problem),
        best_(incumbent),
        device_(problem.units.size()),
        is_placed_(problem.units.size(), false),
        device_free_(problem.devices, 0.0),
        link_free_(problem.places() * problem.places(), 0.0),
        input_free_(problem.places(), 0.0),
        arrival_(problem.tensors.size() * problem.places(), -1.0) {}

  double run() {
    assign(0);
    return best_;
  }

 private:
  double transfer(size_t t, size_t from, size_t to) const {
    return problem_.tensors[t].transfer_seconds[from * problem_.places() + to];
  }
  double seconds(size_t unit, size_t assigned) const {
    const std::vector<double>& all = problem_.units[unit].seconds;
    return unit < assigned ? all[device_[unit]] : *std::ranges::min_element(all);
  }
  bool is_beaten(double bound) const { return bound >= best_ * (1 - 1e-9); }

  /// No less than this with the first units where they are: the longest path, and the work of each
  /// device and of all.
  double placement_bound(size_t assigned) {
    std::vector<double> load(problem_.devices, 0.0);
    std::vector<double> earliest(device_.size());
    double least = 0, work = 0;
    for (size_t unit = 0; unit < device_.size(); ++unit) {
      double start = 0;
      for (const size_t t : tensors_.inputs[unit]) {
        const size_t producer = problem_.tensors[t].producer;
        const bool is_input = producer == kOutside;
        const size_t from = is_input ? problem_.home : device_[producer];
        const double way = unit < assigned ? transfer(t, from, device_[unit]) : 0;
        start = std::max(start, (is_input ? 0 : earliest[producer]) + way);
      }
      earliest[unit] = start + seconds(unit, assigned);
      work += seconds(unit, assigned);
      if (unit < assigned) load[device_[unit]] += seconds(unit, assigned);
      least = std::max(least, earliest[unit]);
      for (const size_t t : tensors_.outputs[unit]) {
        if (unit < assigned && problem_.tensors[t].leaves)
          least = std::max(least, earliest[unit] + transfer(t, device_[unit], problem_.home));
      }
    }
    least = std::max(least, *std::ranges::max_element(load));
    return std::max(least, work / static_cast<double>(problem_.devices));
  }

  void assign(size_t unit) {
    if (is_beaten(placement_bound(unit))) return;
    if (unit == device_.size()) return order(0, 0.0, 0.0);
    for (device_[unit] = 0; device_[unit] < problem_.devices; ++device_[unit]) assign(unit + 1);
  }

  /// The same for an order begun, without transfers.
  double order_bound(double last, double latest) {
    std::vector<double> free = device_free_;
    for (size_t unit = 0; unit < device_.size(); ++unit) {
      if (!is_placed_[unit]) free[device_[unit]] = std::max(free[device_[unit]], last);
    }
    for (size_t unit = 0; unit < device_.size(); ++unit) {
      if (!is_placed_[unit]) free[device_[unit]] += seconds(unit, device_.size());
    }
    return std::max(latest, *std::ranges::max_element(free));
  }

  void order(size_t placed, double last, double latest) {
    if (is_beaten(order_bound(last, latest))) return;
    if (placed == device_.size()) {
      best_ = latest;
      return;
    }
    for (size_t unit = 0; unit < device_.size(); ++unit) {
      const bool is_ready =
          !is_placed_[unit] && std::ranges::all_of(tensors_.inputs[unit], [&](size_t t) {
            const size_t producer = problem_.tensors[t].producer;
            return producer == kOutside || is_placed_[producer];
          });
      if (is_ready) place(unit, placed, last, latest);
    }
  }

  void place(size_t unit, size_t placed, double last, double latest) {
    const auto links = link_free_;
    const auto inputs = input_free_;
    const auto arrivals = arrival_;
    const size_t device = device_[unit];
    const double free = device_free_[device];
    double start = free;
    for (const size_t t : tensors_.inputs[unit]) {
      if (problem_.tensors[t].producer == kOutside)
        send(t, problem_.home, device, 0, input_free_[device]);
      start = std::max(start, arrival_[t * problem_.places() + device]);
    }
    if (start >= last) {
      const double finish = start + problem_.units[unit].seconds[device];
      is_placed_[unit] = true;
      device_free_[device] = finish;
      double end = std::max(latest, finish);
      for (const size_t t : tensors_.outputs[unit]) {
        const PlanTensor& tensor = problem_.tensors[t];
        const auto send_to = [&](size_t to) {
          send(t, device, to, finish, link_free_[device * problem_.places() + to]);
        };
        for (const size_t consumer : tensor.consumers) send_to(device_[consumer]);
        if (!tensor.leaves) continue;
        send_to(problem_.home);
        end = std::max(end, arrival_[t * problem_.places() + problem_.home]);
      }
      order(placed + 1, start, end);
      is_placed_[unit] = false;
      device_free_[device] = free;
    }
    link_free_ = links;
    input_free_ = inputs;
    arrival_ = arrivals;
  }

  void send(size_t t, size_t from, size_t to, double ready, double& link) {
    double& arrival = arrival_[t * problem_.places() + to];
    if (arrival >= 0) return;
    const double way = transfer(t, from, to);
    arrival = way > 0 ? link = std::max(link, ready) + way : ready;
  }

  const PlanProblem& problem_;
  UnitTensors tensors_;
  double best_;
  Assignment device_;
  std::vector<bool> is_placed_;
  std::vector<double> device_free_;
  std::vector<double> link_free_;
  std::vector<double> input_free_;
  std::vector<double> arrival_;
};

double best_single_makespan(const PlanProblem& problem) {
  double best = kImpossible;
  for (size_t device = 0; device < problem.devices; ++device) {
    Simulator simulator(problem, LinkUse::OnePerPair);
    const Assignment all(problem.units.size(), device);
    if (latency(problem, all) == kImpossible) continue;
    best = std::min(best, simulator.makespan({all, natural_order(problem)}));
  }
  return best;
}

/// Changes times one by one, keeps what brings the plan nearer to the best single device or above.
TEST(ParallelPlan, NoTimesMakeItSlowerThanASingleDevice) {
  Random random(14);
  for (size_t i = 0; i < 12; ++i) {
    ParallelOptions options;
    options.unit_runs = i % 3 == 0 ? 0 : 2000;
    PlanProblem problem = random_possible_problem(random, {2 + i % 3, 10});
    double worst = 0;
    for (int step = 0; step < 300; ++step) {
      PlanProblem changed = problem;
      const double factor = std::exp2(static_cast<double>(random() % 9) - 4);
      if (random() % 2) {
        changed.units[random() % 10].seconds[random() % problem.devices] *= factor;
      } else {
        PlanTensor& tensor = changed.tensors[random() % changed.tensors.size()];
        tensor.transfer_seconds[random() % tensor.transfer_seconds.size()] *= factor;
      }
      const ParallelPlan plan = *parallel_plan(changed, options);
      const double single = best_single_makespan(changed);
      ASSERT_LE(plan.seconds, single) << to_text(changed);
      ASSERT_LE(plan.single_seconds, single);
      ASSERT_TRUE(is_topological(changed, plan.schedule.order));
      ASSERT_EQ(plan.seconds, Simulator(changed, options.links).makespan(plan.schedule));
      if (single == 0 || plan.seconds / single < worst) continue;
      worst = plan.seconds / single;
      problem = std::move(changed);
    }
    EXPECT_GT(worst, 0.5);  // it did come near
  }
}

/// Units that a device does not run stay away from it in every move.
TEST(ParallelPlan, ImpossibleStaysImpossible) {
  Random random(15);
  size_t planned = 0;
  for (size_t i = 0; i < 300; ++i) {
    const PlanProblem problem = random_problem(random, {3, 9});
    ParallelOptions options;
    options.unit_runs = 20000;
    const auto plan = parallel_plan(problem, options);
    ASSERT_EQ(plan.has_value(), least_latency(problem) < kImpossible);
    if (!plan) continue;
    ++planned;
    ASSERT_LT(latency(problem, plan->schedule.assignment), kImpossible);
    ASSERT_LE(plan->seconds, latency_plan(problem)->seconds * (1 + 1e-9));
    ASSERT_LE(plan->seconds, best_single_makespan(problem));
  }
  EXPECT_GT(planned, 150u);
}

TEST(ParallelPlan, NearBranchAndBound) {
  Random random(13);
  double excess = 0, worst = 0, gain = 0;
  size_t count = 0;
  for (size_t i = 0; i < 300; ++i) {
    const PlanProblem problem = random_possible_problem(random, {2 + i % 2, 4 + i % 7});
    const ParallelPlan plan = *parallel_plan(problem);
    BranchAndBound exact(problem, plan.seconds * (1 + 1e-6));
    const double least = exact.run();
    if (least == 0) continue;
    ++count;
    excess += plan.seconds / least - 1;
    gain += 1 - plan.seconds / plan.single_seconds;
    worst = std::max(worst, plan.seconds / least - 1);
  }
  const double mean_excess = excess / static_cast<double>(count);
  EXPECT_LT(mean_excess, 0.005) << "at worst " << worst;
  EXPECT_GT(gain / static_cast<double>(count), 0.2);  // over the best single device
  EXPECT_GT(count, 250u);
}

}  // namespace
}  // namespace het::hetero
