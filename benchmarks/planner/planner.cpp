// How long planning takes, by the form of the graph: bench_planner [UNITS [DEVICES]]; milliseconds,
// the best of five runs, and what the plans promise beside the best single device.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "hetero/planner/elimination.h"
#include "hetero/planner/fewer_cuts.h"
#include "hetero/planner/latency_plan.h"
#include "hetero/planner/parallel_plan.h"
#include "hetero/planner/single_device.h"
#include "hetero/planner/throughput_plan.h"

namespace het::hetero {
namespace {

/// Makes units and tensors of the forms that vision models have. Each device is good at some kinds
/// of units; the host is a place of its own.
class GraphMaker {
 public:
  GraphMaker(size_t devices, size_t units) : units_(units) {
    problem_.devices = devices;
    problem_.home = devices;
    tensor(kOutside);
  }

  size_t count() const { return problem_.units.size(); }
  bool is_full() const { return count() >= units_; }
  /// A unit with these tensors as inputs, and its output.
  size_t unit(const std::vector<size_t>& inputs) {
    PlanUnit made;
    const double work = 1e-4 * uniform(0.1, 1);
    for (size_t d = 0; d < problem_.devices; ++d) made.seconds.push_back(work * uniform(0.3, 1.5));
    // Device 0 runs everything.
    if (problem_.devices > 1 && uniform(0, 1) < 0.05) {
      made.seconds[1 + count() % (problem_.devices - 1)] = kImpossible;
    }
    problem_.units.push_back(std::move(made));
    for (const size_t input : inputs) problem_.tensors[input].consumers.push_back(count() - 1);
    return tensor(count() - 1);
  }
  PlanProblem finish() && {
    for (PlanTensor& made : problem_.tensors) made.leaves |= made.consumers.empty();
    return std::move(problem_);
  }

 private:
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  size_t tensor(size_t producer) {
    PlanTensor made;
    made.producer = producer;
    const size_t places = problem_.places();
    const double seconds = 1e-5 * uniform(1, 10);
    for (size_t from = 0; from < places; ++from) {
      for (size_t to = 0; to < places; ++to) {
        const bool is_host = from >= problem_.devices || to >= problem_.devices;
        made.transfer_seconds.push_back(from == to ? 0.0 : seconds * (is_host ? 1 : 2));
      }
    }
    problem_.tensors.push_back(std::move(made));
    return problem_.tensors.size() - 1;
  }

  size_t units_;
  std::mt19937 random_{1};
  PlanProblem problem_;
};

PlanProblem chain(size_t devices, size_t units) {
  GraphMaker graph(devices, units);
  for (size_t last = 0; !graph.is_full();) last = graph.unit({last});
  return std::move(graph).finish();
}

PlanProblem residual(size_t devices, size_t units) {
  GraphMaker graph(devices, units);
  for (size_t last = 0; !graph.is_full();) {
    const size_t branch = graph.unit({graph.unit({last})});
    last = graph.unit({last, branch});
  }
  return std::move(graph).finish();
}

PlanProblem branches(size_t devices, size_t units) {
  GraphMaker graph(devices, units);
  for (size_t last = 0; !graph.is_full();) {
    std::vector<size_t> ends;
    for (size_t branch = 0; branch < 4; ++branch) {
      size_t end = last;
      for (size_t i = 0; i <= branch; ++i) end = graph.unit({end});
      ends.push_back(end);
    }
    last = graph.unit(ends);
  }
  return std::move(graph).finish();
}

/// A backbone with five levels, ways down and up across them, and a head on each.
PlanProblem pyramid(size_t devices, size_t units) {
  GraphMaker graph(devices, units);
  size_t last = 0;
  std::vector<size_t> levels;
  for (size_t level = 0; level < 5; ++level) {
    while (graph.count() < units * (level + 1) / 10) {
      last = graph.unit({last, graph.unit({graph.unit({last})})});
    }
    levels.push_back(last);
  }
  for (size_t level = 4; level-- > 0;)
    levels[level] = graph.unit({levels[level], levels[level + 1]});
  for (size_t level = 1; level < 5; ++level)
    levels[level] = graph.unit({levels[level], levels[level - 1]});
  while (!graph.is_full()) {
    for (size_t& level : levels) level = graph.unit({level});
  }
  graph.unit(levels);
  return std::move(graph).finish();
}

/// Blocks whose units each read all outputs of the block so far.
PlanProblem dense(size_t devices, size_t units, size_t block_size) {
  GraphMaker graph(devices, units);
  for (size_t last = 0; !graph.is_full();) {
    std::vector<size_t> block{last};
    for (size_t i = 0; i < block_size; ++i) block.push_back(graph.unit({graph.unit(block)}));
    last = graph.unit(block);
  }
  return std::move(graph).finish();
}

double fastest(const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto start = Clock::now();
    run();
    const std::chrono::duration<double, std::milli> took = Clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

void measure(const std::string& name, const PlanProblem& problem) {
  const double single = best_single_device(problem).seconds;
  LatencyPlan latency;
  ParallelPlan parallel;
  ThroughputPlan mix, one;
  const double latency_ms = fastest([&] { latency = *latency_plan(problem); });
  const double parallel_ms = fastest([&] { parallel = *parallel_plan(problem); });
  const double mix_ms = fastest([&] { mix = *throughput_plan(problem); });
  const double one_ms = fastest([&] {
    one = *throughput_plan(problem, {LinkUse::OnePerPair, true});
  });
  // As HETERO_POLICY=throughput takes it.
  const Assignment& finest = one.plans[0].assignment;
  Assignment fewer;
  const double fewer_ms =
      fastest([&] { fewer = with_fewer_cuts(problem, finest, LinkUse::OnePerPair, 0.1); });
  const Elimination tables(problem);
  fmt::print(
      "{:<10} {:>5} {:>8} | {:>7.1f} {:>6.2f} {} | {:>8.1f} {:>6.2f} | {:>7.1f} {:>6.2f} {:>5.3f} "
      "{:>2} | {:>7.1f} {:>6.2f} {:>5.3f} | {:>7.1f} {:>4} -> {:>4}\n",
      name, problem.units.size(), tables.fits() ? fmt::format("{}", tables.entries()) : "too wide",
      latency_ms, single / latency.seconds, latency.is_exact() ? "exact" : "     ", parallel_ms,
      single / parallel.seconds, mix_ms, single * mix.frames_per_second,
      mix.frames_per_second / mix.bound_frames_per_second, mix.plans.size(), one_ms,
      single * one.frames_per_second, one.frames_per_second / one.bound_frames_per_second, fewer_ms,
      count_transfers(problem, finest), count_transfers(problem, fewer));
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  const size_t units = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
  const size_t devices = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 3;
  if (units < 20 || units > 100000 || devices < 1 || devices > 8) {
    fmt::print(stderr, "usage: bench_planner [UNITS [DEVICES]], 20 to 100000 and 1 to 8\n");
    return 2;
  }
  fmt::print("ms and gain over a single device; of throughput plans also the part of the bound\n");
  fmt::print("{:<10} {:>5} {:>8} | {:<20} | {:<15} | {:<24} | {:<20} | {}\n", "graph", "units",
             "entries", "latency", "parallel", "throughput, plans", "one plan", "fewer transfers");
  measure("chain", chain(devices, units));
  measure("residual", residual(devices, units));
  measure("branches", branches(devices, units));
  measure("pyramid", pyramid(devices, units));
  measure("dense 3", dense(devices, units, 3));
  measure("dense 4", dense(devices, units, 4));
  measure("dense 12", dense(devices, units, 12));
  return 0;
}

}  // namespace
}  // namespace het::hetero

int main(int argc, char** argv) {
  return het::hetero::run(argc, argv);
}
