#include "hetero/policy.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <utility>

#include "hetero/cost_model.h"
#include "hetero/device_profile.h"
#include "hetero/multi_compiled_model.h"
#include "hetero/planner/latency_plan.h"
#include "hetero/planner/parallel_plan.h"
#include "hetero/planner/single_device.h"
#include "hetero/planner/throughput_plan.h"
#include "hetero/stages.h"
#include "hetero/zero_request.h"
#include "inference/infer_request.h"
#include "inference/log.h"
#include "inference/passes/prepare_model.h"

namespace het::hetero {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kProfileSeconds = 0.5;  ///< a device
constexpr double kTimingSeconds = 1.0;   ///< all candidates together
constexpr size_t kMostRequests = 64;
constexpr int kLeastRounds = 3;
constexpr int kMostRounds = 25;
constexpr int kMostPlanRounds = 3;
/// A plan of several devices has to be better than one device by this.
constexpr double kLeastGain = 0.03;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// One way to run a compiled model that a policy is about.
class Timing {
 public:
  static Result<Timing> create(Policy policy, CompiledModel& model) {
    Timing timing;
    const size_t count =
        policy == Policy::Throughput ? std::min(optimal_requests(model), kMostRequests) : 1;
    for (size_t i = 0; i < count; ++i) {
      HET_ASSIGN(timing.requests_.emplace_back(), zero_request(model));
    }
    return timing;
  }

  /// Seconds a request takes or, with several in flight, from one result to the next.
  Result<double> run() {
    const auto start = Clock::now();
    if (requests_.size() == 1) {
      HET_TRY(requests_[0]->infer());
      return since(start);
    }
    constexpr size_t kTimes = 3;
    for (size_t i = 0; i < kTimes; ++i) {
      for (const auto& request : requests_) {
        if (i > 0) HET_TRY(request->wait());
        HET_TRY(request->start_async());
      }
    }
    for (const auto& request : requests_) HET_TRY(request->wait());
    return since(start) / static_cast<double>(kTimes * requests_.size());
  }

 private:
  std::vector<std::unique_ptr<InferRequest>> requests_;
};

class Planner {
 public:
  Planner(PlanOptions options, const Model& prepared, SupportTable& table, PlanStore& store,
          const PlanFactory& factory)
      : options_(options),
        policy_(options.policy == Policy::Priority ? Policy::Latency : options.policy),
        prepared_(prepared),
        table_(table),
        store_(store),
        factory_(factory) {
    report_.policy = options.policy;
  }

  Result<PlanReport> run() {
    HET_TRY(add_by_priority());
    const bool is_by_priority = options_.policy == Policy::Priority;
    if (is_by_priority && !options_.explain) {
      HET_TRY(compile(report_.candidates[0]));
      return std::move(report_);
    }
    if (!options_.explain) {
      HET_ASSIGN(const bool is_stored, take_stored());
      if (is_stored) return std::move(report_);
    }
    // Pass 1: costs of what devices said they take, after by-priority's subgraphs were confirmed.
    HET_ASSIGN(const NodeTimes nodes, measure_nodes(prepared_, table_, kProfileSeconds));
    const TransferTimes transfers = measure_transfers(table_);
    CostModel costs(prepared_, nodes, transfers);
    report_.candidates[0].predicted_ms =
        1e3 * predicted(costs.problem(), costs.assignment(report_.candidates[0].placement.devices));
    // Pass 2: every device alone.
    for (size_t d = 0; d < table_.devices().size(); ++d) HET_TRY(add_single(costs, d));
    // Pass 3: the planner's, until measuring its subgraphs changes nothing.
    for (int round = 0; round < kMostPlanRounds; ++round) {
      HET_ASSIGN(const bool is_new, add_plan(costs, round));
      if (!is_new || round + 1 == kMostPlanRounds) break;
      HET_TRY(correct(costs, report_.candidates.back()));
    }
    // Pass 4: what is faster in fact.
    HET_TRY(time_candidates());
    choose();
    if (is_by_priority) {
      tell_of_better();
      report_.chosen = 0;
    } else {
      keep();
    }
    if (options_.explain) HET_TRY(time_subgraphs(costs, transfers));
    for (size_t i = 0; i < report_.candidates.size(); ++i) {
      if (i != report_.chosen) report_.candidates[i].compiled = nullptr;
    }
    return std::move(report_);
  }

 private:
  double predicted(const PlanProblem& problem, const Assignment& assignment) const {
    return policy_ == Policy::Throughput ? period(problem, assignment, LinkUse::OnePerPair)
                                         : latency(problem, assignment);
  }

  void tell_of_better() const {
    if (report_.chosen == 0) return;
    const PlanCandidate& best = report_.candidates[report_.chosen];
    log(LogLevel::Info,
        "model '{}' by priority takes {:.3f} ms, and {:.3f} ms as '{}': HETERO_POLICY=latency "
        "would choose that",
        prepared_.name(), report_.candidates[0].measured_ms, best.measured_ms, best.name);
  }

  Status time_subgraphs(const CostModel& costs, const TransferTimes& transfers) {
    const PlanCandidate& chosen = report_.candidates[report_.chosen];
    const Split& split = chosen.placement.split;
    const auto device_of = [&](size_t subgraph) {
      return chosen.placement.devices[split.subgraphs[subgraph].nodes[0]];
    };
    for (size_t i = 0; i < split.subgraphs.size(); ++i) {
      PlanReport::SubgraphTime& time = report_.subgraphs.emplace_back();
      time.predicted_ms = 1e3 * costs.seconds(split.subgraphs[i].nodes, device_of(i));
      if (!check_inputs_static(*split.subgraphs[i].model).ok()) continue;
      HET_ASSIGN(const auto request, zero_request(*chosen.compiled->subgraphs[i]));
      HET_ASSIGN(const double seconds, median_seconds(*request, kLeastRounds));
      time.measured_ms = 1e3 * seconds;
    }
    for (const CutValue& cut : split.cuts) {
      double& ms = report_.cut_ms.emplace_back(0.0);
      const auto bytes = dense_size_bytes(cut.desc);
      const size_t from = device_of(cut.producer.subgraph);
      std::vector<size_t> reached = {from};
      for (const SubgraphPort& reader : cut.readers) {
        const size_t to = device_of(reader.subgraph);
        if (std::ranges::find(reached, to) != reached.end()) continue;
        reached.push_back(to);
        ms += 1e3 * transfers.times[from * transfers.places + to].seconds(
                        bytes ? static_cast<double>(*bytes) : 0.0);
      }
    }
    return {};
  }

  Result<bool> take_stored() {
    const std::optional<StoredPlan> plan = store_.find(to_string(policy_), prepared_);
    if (!plan) return false;
    for (size_t n = 0; n < plan->devices.size(); ++n) {
      if (!table_.supports(n, plan->devices[n])) return false;
    }
    PlanCandidate candidate;
    candidate.name = "as stored";
    HET_ASSIGN(candidate.placement, make_placement(plan->devices, plan->in_stages));
    HET_ASSIGN(const bool taken, table_.confirm(candidate.placement.split));
    if (!taken) return false;
    candidate.is_single = uses_one_device(candidate.placement);
    HET_TRY(compile(candidate));
    report_.candidates.clear();
    report_.candidates.push_back(std::move(candidate));
    return true;
  }

  void keep() {
    std::map<std::string, double> times_us;
    for (const PlanCandidate& candidate : report_.candidates) {
      times_us[candidate.name] = 1e3 * candidate.measured_ms;
    }
    const PlanCandidate& chosen = report_.candidates[report_.chosen];
    store_.keep(to_string(policy_), prepared_, {chosen.placement.devices, chosen.in_stages},
                std::move(times_us));
  }

  Status add_by_priority() {
    PlanCandidate candidate;
    candidate.name = "by priority";
    HET_ASSIGN(candidate.placement, place_by_priority(prepared_, table_));
    HET_TRY(check_complete(prepared_, candidate.placement, table_));
    candidate.is_single = uses_one_device(candidate.placement);
    report_.candidates.push_back(std::move(candidate));
    return {};
  }

  static bool uses_one_device(const Placement& placement) {
    return std::ranges::adjacent_find(placement.devices, std::not_equal_to<>()) ==
           placement.devices.end();
  }

  bool is_known(const Placement& placement) const {
    return std::ranges::any_of(report_.candidates, [&](const PlanCandidate& candidate) {
      return candidate.placement.devices == placement.devices &&
             candidate.placement.split.subgraphs.size() == placement.split.subgraphs.size();
    });
  }

  /// The placement of nodes on these devices; empty reasons say it was the planner.
  Result<Placement> make_placement(std::vector<size_t> devices, bool in_stages) {
    Placement placement;
    placement.devices = std::move(devices);
    placement.reasons.assign(placement.devices.size(), std::string(to_string(policy_)));
    std::vector<std::string> names;
    for (const size_t d : placement.devices) names.push_back(table_.devices()[d].member->name);
    if (in_stages) {
      HET_ASSIGN(placement.split, split_in_stages(prepared_, names));
    } else {
      HET_ASSIGN(placement.split, split_model(prepared_, names));
    }
    return placement;
  }

  Status add_single(const CostModel& costs, size_t device) {
    const SingleDevicePlan plan = single_device_plan(costs.problem(), device);
    if (plan.assignment.empty()) return {};
    PlanCandidate candidate;
    candidate.name = table_.devices()[device].member->name + " alone";
    candidate.is_single = true;
    HET_ASSIGN(candidate.placement,
               make_placement(costs.node_devices(plan.assignment), /*in_stages=*/false));
    candidate.predicted_ms = 1e3 * predicted(costs.problem(), plan.assignment);
    if (report_.candidates[0].placement.devices == candidate.placement.devices) {
      report_.candidates[0].name = candidate.name;
    } else {
      report_.candidates.push_back(std::move(candidate));
    }
    return {};
  }

  /// False where the plan is one of the candidates already.
  Result<bool> add_plan(const CostModel& costs, int round) {
    Assignment assignment;
    double seconds = 0;
    if (policy_ == Policy::Latency) {
      HET_ASSIGN(LatencyPlan plan, latency_plan(costs.problem()));
      assignment = std::move(plan.assignment);
      seconds = plan.seconds;
    } else if (policy_ == Policy::Parallel) {
      HET_ASSIGN(ParallelPlan plan, parallel_plan(costs.problem()));
      assignment = std::move(plan.schedule.assignment);
      seconds = plan.seconds;
    } else {
      HET_ASSIGN(const ThroughputPlan plan, throughput_plan(costs.problem(), {.one_plan = true}));
      assignment = plan.plans[0].assignment;
      seconds = 1.0 / plan.frames_per_second;
    }
    bool is_new = false;
    const std::string suffix = round == 0 ? "" : fmt::format(", round {}", round + 1);
    // Branches only overlap where subgraphs end as early as somebody waits for them; what that
    // costs in starts is measured.
    for (const bool in_stages : {false, true}) {
      if (in_stages && policy_ != Policy::Parallel) continue;
      PlanCandidate candidate;
      candidate.name =
          fmt::format("{}{}{}", to_string(policy_), in_stages ? " in stages" : "", suffix);
      HET_ASSIGN(candidate.placement, make_placement(costs.node_devices(assignment), in_stages));
      candidate.in_stages = in_stages;
      candidate.predicted_ms = 1e3 * seconds;
      candidate.is_single = uses_one_device(candidate.placement);
      if (is_known(candidate.placement)) continue;
      HET_ASSIGN(const bool taken, table_.confirm(candidate.placement.split));
      if (!taken) continue;
      report_.candidates.push_back(std::move(candidate));
      is_new = true;
    }
    return is_new;
  }

  /// Subgraphs take another time together than their nodes did among others.
  Status correct(CostModel& costs, PlanCandidate& candidate) {
    HET_TRY(compile(candidate));
    const std::vector<Subgraph>& subgraphs = candidate.placement.split.subgraphs;
    for (size_t i = 0; i < subgraphs.size(); ++i) {
      const Subgraph& subgraph = subgraphs[i];
      const size_t device = candidate.placement.devices[subgraph.nodes[0]];
      const double predicted_seconds = costs.seconds(subgraph.nodes, device);
      if (!check_inputs_static(*subgraph.model).ok()) continue;
      HET_ASSIGN(const auto request, zero_request(*candidate.compiled->subgraphs[i]));
      HET_ASSIGN(const double seconds, median_seconds(*request, kLeastRounds));
      if (predicted_seconds <= 0) continue;
      const double factor = std::clamp(seconds / predicted_seconds, 0.25, 4.0);
      costs.correct(subgraph.nodes, device, factor);
    }
    return {};
  }

  Status compile(PlanCandidate& candidate) {
    if (candidate.compiled != nullptr) return {};
    HET_ASSIGN(candidate.compiled, factory_.compile(candidate.placement.split));
    return {};
  }

  Status time_candidates() {
    std::vector<PlanCandidate>& candidates = report_.candidates;
    if (candidates.size() == 1) return compile(candidates[0]);
    std::vector<Timing> timings;
    for (PlanCandidate& candidate : candidates) {
      HET_TRY(compile(candidate));
      HET_ASSIGN(const auto model, factory_.model_of(candidate.compiled));
      HET_ASSIGN(Timing timing, Timing::create(policy_, *model));
      HET_ASSIGN(const double first, timing.run());
      (void)first;  // warms up
      timings.push_back(std::move(timing));
    }
    std::vector<std::vector<double>> samples(candidates.size());
    const auto start = Clock::now();
    for (int round = 0;
         round < kLeastRounds || (round < kMostRounds && since(start) < kTimingSeconds); ++round) {
      for (size_t i = 0; i < timings.size(); ++i) {
        HET_ASSIGN(const double seconds, timings[i].run());
        samples[i].push_back(seconds);
      }
    }
    for (size_t i = 0; i < candidates.size(); ++i) {
      std::ranges::sort(samples[i]);
      const size_t count = samples[i].size();
      candidates[i].measured_ms = 1e3 * samples[i][count / 2];
      candidates[i].measured_spread =
          (samples[i][count * 3 / 4] - samples[i][count / 4]) / samples[i][count / 2];
    }
    return {};
  }

  void choose() {
    const std::vector<PlanCandidate>& candidates = report_.candidates;
    const auto best = [&](bool single) {
      size_t found = candidates.size();
      for (size_t i = 0; i < candidates.size(); ++i) {
        if (candidates[i].is_single != single) continue;
        if (found == candidates.size() ||
            candidates[i].measured_ms < candidates[found].measured_ms) {
          found = i;
        }
      }
      return found;
    };
    const size_t single = best(true);
    const size_t several = best(false);
    report_.chosen = single < candidates.size() ? single : several;
    if (single < candidates.size() && several < candidates.size() &&
        candidates[several].measured_ms * (1.0 + kLeastGain) < candidates[single].measured_ms) {
      report_.chosen = several;
    }
  }

  const PlanOptions options_;
  const Policy policy_;  ///< what is planned for
  const Model& prepared_;
  SupportTable& table_;
  PlanStore& store_;
  const PlanFactory& factory_;
  PlanReport report_;
};

}  // namespace

std::string_view to_string(Policy policy) {
  switch (policy) {
    case Policy::Latency:
      return "latency";
    case Policy::Parallel:
      return "parallel";
    case Policy::Throughput:
      return "throughput";
    case Policy::Priority:
      break;
  }
  return "priority";
}

Policy policy_of(const Properties& properties) {
  const std::string text = property_text(properties, "HETERO_POLICY");
  for (const Policy policy : {Policy::Latency, Policy::Parallel, Policy::Throughput}) {
    if (text == to_string(policy)) return policy;
  }
  return Policy::Priority;
}

Result<PlanReport> plan_by_policy(PlanOptions options, const Model& prepared, SupportTable& table,
                                  PlanStore& store, const PlanFactory& factory) {
  return Planner(options, prepared, table, store, factory).run();
}

std::string describe(const PlanReport& report, const SupportTable& table) {
  std::string text = fmt::format("{:<24} {:>9} {:>13} {:>12} {:>7}  {}",
                                 fmt::format("policy {}", to_string(report.policy)), "subgraphs",
                                 "predicted ms", "measured ms", "spread", "nodes");
  for (size_t i = 0; i < report.candidates.size(); ++i) {
    const PlanCandidate& candidate = report.candidates[i];
    std::string nodes;
    for (size_t d = 0; d < table.devices().size(); ++d) {
      const auto count = std::ranges::count(candidate.placement.devices, d);
      if (count == 0) continue;
      nodes +=
          fmt::format("{}{} {}", nodes.empty() ? "" : ", ", table.devices()[d].member->name, count);
    }
    text += fmt::format(
        "\n{}{:<22} {:>9} {:>13.3f} {:>12} {:>7}  {}", i == report.chosen ? "* " : "  ",
        candidate.name, candidate.placement.split.subgraphs.size(), candidate.predicted_ms,
        candidate.measured_ms > 0 ? fmt::format("{:.3f}", candidate.measured_ms) : std::string("-"),
        candidate.measured_ms > 0 ? fmt::format("{:.0f} %", 100 * candidate.measured_spread)
                                  : std::string("-"),
        nodes);
  }
  return text;
}

}  // namespace het::hetero
