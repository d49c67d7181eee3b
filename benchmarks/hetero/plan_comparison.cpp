#include "benchmarks/hetero/plan_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hetero/placement/cost_model.h"
#include "hetero/planner/latency_plan.h"
#include "hetero/planner/list_schedule.h"
#include "hetero/planner/parallel_plan.h"
#include "hetero/planner/single_device.h"
#include "hetero/planner/throughput_plan.h"

namespace het::hetero {
namespace {

constexpr const char* kObjectiveNames[] = {"latency", "parallel", "throughput"};
constexpr const char* kRuleNames[] = {"ours", "OpenVINO's greedy", "ONE's rank"};

SimulatedSpeed processor() {
  return {"HOSTCPU", 60e9, 15e9, 40e9, 12e9, 3e-6, {}};
}

SimulatedSpeed fast_gpu(std::set<std::string> lacks = {}) {
  return {"FASTGPU", 900e9, 40e9, 600e9, 60e9, 15e-6, std::move(lacks)};
}

SimulatedSpeed small_gpu(std::set<std::string> lacks = {}) {
  return {"SMALLGPU", 120e9, 20e9, 90e9, 15e9, 10e-6, std::move(lacks)};
}

SimulatedSpeed vision_unit() {
  return {"VISIONUNIT",
          500e9,
          150e9,
          80e9,
          10e9,
          20e-6,
          {"Softmax",
           "Resize",
           "Upsample",
           "Transpose",
           "Gather",
           "TopK",
           "LSTM",
           "Exp",
           "Div",
           "ReduceMean",
           "GridSample",
           "InstanceNormalization",
           "Pad",
           "Sqrt",
           "NonMaxSuppression",
           "GatherElements",
           "DetectionOutput",
           "PriorBoxClustered",
           "CTCGreedyDecoder",
           "Tile"}};
}

CostModel costs_of(const SimulatedMachine& machine, const Model& prepared) {
  const size_t devices = machine.devices.size();
  NodeTimes nodes;
  for (const auto& node : prepared.nodes()) {
    auto& seconds = nodes.seconds.emplace_back(devices, kImpossible);
    nodes.is_fused.emplace_back(devices, is_fused(prepared, *node));
    for (size_t d = 0; d < devices; ++d) {
      if (takes(machine.devices[d], *node)) {
        seconds[d] = node_seconds(machine.devices[d], prepared, *node);
      }
    }
  }
  TransferTimes transfers;
  transfers.home = machine.home();
  transfers.places = devices;
  for (size_t from = 0; from < devices; ++from) {
    for (size_t to = 0; to < devices; ++to) {
      transfers.times.push_back(
          from == to ? TransferTime{} : TransferTime{machine.link_start, 1 / machine.link_bytes});
    }
  }
  return {prepared, nodes, transfers};
}

/// Every unit on the first device that takes it.
Assignment greedy(const PlanProblem& problem) {
  Assignment assignment;
  for (const PlanUnit& unit : problem.units) {
    size_t device = 0;
    while (unit.seconds[device] == kImpossible) ++device;
    assignment.push_back(device);
  }
  return assignment;
}

double makespan(const PlanProblem& problem, const Assignment& assignment) {
  Schedule schedule{assignment, std::vector<size_t>(assignment.size())};
  std::iota(schedule.order.begin(), schedule.order.end(), size_t{0});
  return Simulator(problem, LinkUse::OnePerPair).makespan(schedule);
}

}  // namespace

std::vector<SimulatedMachine> simulated_machines() {
  const std::set<std::string> plain = {"depthwise"};
  return {
      {"gpu", {fast_gpu(), processor()}, 20e-6, 8e9},
      {"gpu gaps", {fast_gpu(plain), processor()}, 20e-6, 8e9},
      {"gpu slow link", {fast_gpu(), processor()}, 200e-6, 0.5e9},
      {"small gpu", {small_gpu(), processor()}, 5e-6, 20e9},
      {"small gpu gaps", {small_gpu({"depthwise", "Softmax", "Resize"}), processor()}, 10e-6, 10e9},
      {"vpu", {vision_unit(), processor()}, 100e-6, 1e9},
      {"gpu vpu", {fast_gpu(plain), vision_unit(), processor()}, 30e-6, 4e9},
      {"three alike", {small_gpu(), vision_unit(), processor()}, 5e-6, 16e9},
  };
}

PlanComparison::PlanComparison(const std::string& csv) {
  if (csv.empty()) return;
  csv_ = std::fopen(csv.c_str(), "w");
  if (csv_ != nullptr) fmt::print(csv_, "model,machine,objective,single_s,ours_s,greedy_s,one_s\n");
}

PlanComparison::~PlanComparison() {
  if (csv_ != nullptr) std::fclose(csv_);
}

Status PlanComparison::add(const std::string& name, const Model& prepared) {
  for (const SimulatedMachine& machine : simulated_machines()) {
    const CostModel costs = costs_of(machine, prepared);
    const PlanProblem& problem = costs.problem();
    if (problem.units.empty()) return error(StatusCode::NotSupported, "nothing to place");
    const LinkUse links = LinkUse::OnePerPair;
    const Assignment by_priority = greedy(problem);
    const Schedule one = list_schedule(problem, one_rank(problem), links);
    std::array<double, kObjectives> single;
    single.fill(kImpossible);
    for (size_t d = 0; d < problem.devices; ++d) {
      const Assignment alone = single_device_plan(problem, d).assignment;
      if (alone.empty()) continue;
      single[0] = std::min(single[0], latency(problem, alone));
      single[1] = std::min(single[1], makespan(problem, alone));
      single[2] = std::min(single[2], period(problem, alone, links));
    }
    HET_ASSIGN(const LatencyPlan shortest, latency_plan(problem));
    HET_ASSIGN(const ParallelPlan parallel, parallel_plan(problem));
    HET_ASSIGN(const ThroughputPlan mix, throughput_plan(problem, {.links = links}));
    mixed_ += mix.plans.size() > 1;
    count(name, machine, 0, single[0],
          {shortest.seconds, latency(problem, by_priority), latency(problem, one.assignment)});
    count(name, machine, 1, single[1],
          {parallel.seconds, makespan(problem, by_priority),
           Simulator(problem, links).makespan(one)});
    count(name, machine, 2, single[2],
          {1 / mix.frames_per_second, period(problem, by_priority, links),
           period(problem, one.assignment, links)});
  }
  return {};
}

void PlanComparison::count(const std::string& name, const SimulatedMachine& machine,
                           size_t objective, double single, const Row& seconds) {
  for (size_t rule = 0; rule < kRules; ++rule) {
    Tally& tally = tallies_[objective][rule];
    const double gain = single / seconds[rule];
    ++tally.count;
    tally.slower += gain < 1 - 1e-9;
    tally.log_gain += std::log(gain);
    tally.worst = std::min(tally.worst, gain);
  }
  fmt::print("{:<38} {:<14} {:<10} single {:>9.3f} ms, gains {:>6.3f} {:>6.3f} {:>6.3f}\n", name,
             machine.name, kObjectiveNames[objective], 1e3 * single, single / seconds[0],
             single / seconds[1], single / seconds[2]);
  if (csv_ != nullptr) {
    fmt::print(csv_, "{},{},{},{:.9f},{:.9f},{:.9f},{:.9f}\n", name, machine.name,
               kObjectiveNames[objective], single, seconds[0], seconds[1], seconds[2]);
  }
}

void PlanComparison::print_summary() const {
  fmt::print("\n{:<11} {:<18} {:>12} {:>8} {:>10} {:>7}\n", "objective", "rule", "combinations",
             "slower", "mean gain", "worst");
  for (size_t objective = 0; objective < kObjectives; ++objective) {
    for (size_t rule = 0; rule < kRules; ++rule) {
      const Tally& tally = tallies_[objective][rule];
      fmt::print("{:<11} {:<18} {:>12} {:>8} {:>10.3f} {:>7.3f}\n", kObjectiveNames[objective],
                 kRuleNames[rule], tally.count, tally.slower,
                 std::exp(tally.log_gain / static_cast<double>(std::max<size_t>(1, tally.count))),
                 tally.worst);
    }
  }
  fmt::print("throughput plans that are mixes of several placements: {}\n", mixed_);
}

}  // namespace het::hetero
