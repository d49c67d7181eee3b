#include "hetero/placement/policy.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "hetero/members/zero_request.h"
#include "hetero/placement/candidate_timing.h"
#include "hetero/placement/candidates.h"
#include "hetero/placement/cost_model.h"
#include "hetero/placement/device_profile.h"
#include "hetero/placement/throughput_draft.h"
#include "hetero/planner/latency_plan.h"
#include "hetero/planner/parallel_plan.h"
#include "hetero/planner/single_device.h"
#include "hetero/split/stages.h"
#include "inference/base/log.h"
#include "inference/passes/prepare_model.h"
#include "inference/requests/infer_request.h"

namespace het::hetero {
namespace {

constexpr double kProfileSeconds = 0.5;      ///< a device
constexpr double kTimingSeconds = 1.0;       ///< all candidates together
constexpr double kFirstTimingSeconds = 0.3;  ///< the devices alone
constexpr double kConfirmingSeconds = 0.5;   ///< the best beside the best single device
constexpr double kRequestSeconds = 0.5;      ///< numbers of requests in flight
constexpr int kLeastPolicyRounds = 3;
constexpr int kMostPlanRounds = 3;
/// Of devices side by side; others get nothing.
constexpr double kLeastShare = 0.02;
/// Of the application that a mix or a pipeline asks for.
constexpr size_t kMostFlowRequests = 32;
/// A plan of several devices has to be better than one device by this.
constexpr double kLeastGain = 0.03;

class Planner {
 public:
  Planner(PlanOptions options, const Model& prepared, SupportTable& table, Stores stores,
          const PlanFactory& factory)
      : options_(options),
        policy_(options.policy == Policy::Priority ? Policy::Latency : options.policy),
        prepared_(prepared),
        table_(table),
        stores_(stores),
        factory_(factory) {
    report_.policy = options.policy;
    for (const PlacementDevice& device : table.devices()) {
      is_accelerator_.push_back(is_accelerator(*device.member));
    }
  }

  Result<PlanReport> run() {
    HET_TRY(add_by_priority());
    const bool is_by_priority = options_.policy == Policy::Priority;
    // Of a model without nodes (outputs that are inputs or constants) nothing can be chosen.
    if ((is_by_priority && !options_.explain) || prepared_.nodes().empty()) {
      HET_TRY(compile(report_.candidates[0]));
      return std::move(report_);
    }
    if (!options_.explain) {
      HET_ASSIGN(const bool is_stored, take_stored());
      if (is_stored) return std::move(report_);
    }
    // Pass 1: costs of what devices said they take, after by-priority's subgraphs were confirmed.
    TransferTimes transfers;
    HET_ASSIGN(CostModel costs, measure_costs(transfers));
    price(costs, report_.candidates[0]);
    // Pass 2: every device alone.
    for (size_t d = 0; d < table_.devices().size(); ++d) HET_TRY(add_single(costs, d));
    if (policy_ == Policy::Throughput && options_.mixes) {
      HET_TRY(compile_all());
      HET_TRY(time_candidates(policy_, all_candidates(), factory_, kFirstTimingSeconds));
      HET_TRY(add_side_by_side(costs));
    }
    // Pass 3: the planner's, until measuring its subgraphs changes nothing.
    for (int round = 0; round < kMostPlanRounds; ++round) {
      const size_t before = report_.candidates.size();
      HET_ASSIGN(const bool is_new, add_plans(costs, round));
      if (!is_new || round + 1 == kMostPlanRounds) break;
      for (size_t i = before; i < report_.candidates.size(); ++i) {
        HET_TRY(correct(costs, report_.candidates[i]));
      }
    }
    // Pass 4: what is faster in fact.
    HET_TRY(compile_all());
    HET_TRY(time_candidates(policy_, all_candidates(), factory_, kTimingSeconds));
    report_.chosen = best_candidate(report_.candidates, kLeastGain);
    HET_TRY(confirm_choice());
    PlanCandidate& chosen = report_.candidates[report_.chosen];
    if (policy_ == Policy::Throughput && !chosen.is_single) {
      HET_ASSIGN(chosen.requests, measure_requests(chosen, factory_, kRequestSeconds));
    }
    if (is_by_priority) {
      tell_of_better();
      report_.chosen = 0;
    } else {
      keep();
    }
    if (options_.explain) HET_TRY(time_subgraphs(costs, transfers));
    drop_others();
    if (options_.keeps_costs) {
      for (PlanCandidate& candidate : report_.candidates) {
        const double said = predicted_ms(costs, candidate);
        if (candidate.measured_ms > 0 && said > 0) candidate.bias = candidate.measured_ms / said;
      }
      report_.costs = std::move(costs);
    }
    return std::move(report_);
  }

  /// As plan_again() says.
  Result<std::optional<PlanReport>> run_again(const PlanReport& before,
                                              const std::vector<SpeedChange>& changes) {
    CostModel costs = *before.costs;
    apply(costs, changes);
    HET_TRY(add_by_priority());
    for (size_t d = 0; d < table_.devices().size(); ++d) HET_TRY(add_single(costs, d));
    HET_TRY(add_plans(costs, /*round=*/0));
    // Mixes have other shares now.
    for (const PlanCandidate& known : before.candidates) {
      if (known.ways.size() > 1) continue;
      const CandidateWay& way = known.ways[0];
      HET_TRY(add(costs, known.name, {{costs.assignment(way.placement.devices), 1}}, 0.0,
                  way.in_stages));
    }
    const auto predict = [&] {
      for (PlanCandidate& candidate : report_.candidates) {
        const PlanCandidate* const known = find_same(before.candidates, candidate);
        candidate.bias =
            known != nullptr ? known->bias : usual_bias(before.candidates, candidate.is_single);
        candidate.predicted_ms = candidate.bias * predicted_ms(costs, candidate);
      }
    };
    predict();
    if (policy_ == Policy::Throughput && options_.mixes) {
      HET_TRY(add_side_by_side(costs));
      predict();
    }
    report_.chosen = best_candidate(report_.candidates, kLeastGain);
    const PlanCandidate& runs = before.candidates[before.chosen];
    if (runs.bias * predicted_ms(costs, runs) <=
        report_.candidates[report_.chosen].predicted_ms * (1.0 + kLeastGain)) {
      return std::nullopt;
    }
    HET_TRY(compile(report_.candidates[report_.chosen]));
    report_.costs = std::move(costs);
    return std::optional<PlanReport>(std::move(report_));
  }

 private:
  Result<CostModel> measure_costs(TransferTimes& transfers) {
    HET_ASSIGN(const NodeTimes nodes,
               measure_nodes(prepared_, table_, stores_.profiles, kProfileSeconds));
    transfers = measure_transfers(table_, stores_.profiles);
    stores_.profiles.save();
    return CostModel(prepared_, nodes, transfers);
  }

  static void apply(CostModel& costs, const std::vector<SpeedChange>& changes) {
    for (const SpeedChange& change : changes) {
      costs.correct(change.nodes, change.device, change.factor);
    }
  }

  void drop_others() {
    for (size_t i = 0; i < report_.candidates.size(); ++i) {
      if (i == report_.chosen) continue;
      for (CandidateWay& way : report_.candidates[i].ways) way.compiled = nullptr;
    }
  }

  double predicted_ms(const CostModel& costs, const PlanCandidate& candidate) const {
    const Assignment first = costs.assignment(candidate.ways[0].placement.devices);
    if (policy_ != Policy::Throughput) return 1e3 * latency(costs.problem(), first);
    if (candidate.is_single) return 1e3 * period(costs.problem(), first, LinkUse::OnePerPair);
    return 1e3 * flight(costs, candidate.ways).period;
  }

  /// Frames that follow each other on these ways, as they queue at devices and links.
  static FramesInFlight flight(const CostModel& costs, const std::vector<CandidateWay>& ways) {
    PipelineFlow flow;
    flow.devices = costs.problem().devices;
    flow.resources = costs.flow_resources();
    std::vector<double> shares;
    for (const CandidateWay& way : ways) {
      flow.ways.push_back(costs.flow(way.placement.split, way.placement.devices));
      shares.push_back(way.share);
    }
    flow.turns = order_turns(shares, shares.size() == 1 ? 1 : PlanMix::kTurns);
    return frames_in_flight(flow, kMostFlowRequests);
  }

  void tell_of_better() const {
    if (report_.chosen == 0) return;
    const PlanCandidate& best = report_.candidates[report_.chosen];
    log(LogLevel::Info,
        "model '{}' by priority takes {:.3f} ms, and {:.3f} ms as '{}': HETERO_POLICY=latency "
        "would choose that",
        prepared_.name(), report_.candidates[0].measured_ms, best.measured_ms, best.name);
  }

  std::vector<PlanCandidate*> all_candidates() {
    std::vector<PlanCandidate*> all;
    for (PlanCandidate& candidate : report_.candidates) all.push_back(&candidate);
    return all;
  }

  /// Several devices are only taken where they are better than one a second time, and certainly:
  /// other programs may have disturbed the one.
  Status confirm_choice() {
    std::vector<PlanCandidate>& all = report_.candidates;
    const auto is_single = [](const PlanCandidate& candidate) { return candidate.is_single; };
    if (all[report_.chosen].is_single || std::ranges::none_of(all, is_single)) return {};
    size_t single = all.size();
    for (size_t i = 0; i < all.size(); ++i) {
      if (!all[i].is_single) continue;
      if (single == all.size() || milliseconds_of(all[i]) < milliseconds_of(all[single])) {
        single = i;
      }
    }
    PlanCandidate& several = all[report_.chosen];
    HET_TRY(time_candidates(policy_, {&all[single], &several}, factory_, kConfirmingSeconds));
    if (!is_certainly_better(several, all[single], kLeastGain)) report_.chosen = single;
    return {};
  }

  Status time_subgraphs(const CostModel& costs, const TransferTimes& transfers) {
    for (const CandidateWay& way : report_.candidates[report_.chosen].ways) {
      PlanReport::WayTimes& times = report_.times.emplace_back();
      const Split& split = way.placement.split;
      const auto device_of = [&](size_t subgraph) {
        return way.placement.devices[split.subgraphs[subgraph].nodes[0]];
      };
      for (size_t i = 0; i < split.subgraphs.size(); ++i) {
        auto& time = times.subgraphs.emplace_back();
        time.predicted_ms = 1e3 * costs.seconds(split.subgraphs[i].nodes, device_of(i));
        if (!check_inputs_static(*split.subgraphs[i].model).ok()) continue;
        HET_ASSIGN(const auto request, zero_request(*way.compiled->subgraphs[i]));
        HET_ASSIGN(const double seconds, median_seconds({&request, 1}, kLeastPolicyRounds));
        time.measured_ms = 1e3 * seconds;
      }
      for (const CutValue& cut : split.cuts) {
        double& ms = times.cut_ms.emplace_back(0.0);
        const size_t from = device_of(cut.producer.subgraph);
        std::vector<size_t> reached = {from};
        for (const SubgraphPort& reader : cut.readers) {
          const size_t to = device_of(reader.subgraph);
          if (std::ranges::find(reached, to) != reached.end()) continue;
          reached.push_back(to);
          ms += 1e3 * transfers.seconds(from, to, cut.desc);
        }
      }
    }
    return {};
  }

  Result<bool> take_stored() {
    const std::optional<StoredPlan> plan = stores_.plans.find(to_string(policy_), prepared_);
    if (!plan) return false;
    PlanCandidate candidate;
    candidate.name = "as stored";
    candidate.requests = plan->requests;
    for (const StoredWay& stored : plan->ways) {
      for (size_t n = 0; n < stored.devices.size(); ++n) {
        if (!table_.supports(n, stored.devices[n])) return false;
      }
      HET_ASSIGN(CandidateWay way, make_way(stored.devices, stored.in_stages));
      way.share = stored.share;
      HET_ASSIGN(const bool taken, table_.confirm(way.placement.split));
      if (!taken) return false;
      candidate.ways.push_back(std::move(way));
    }
    candidate.is_single = uses_one_device(candidate);
    HET_TRY(compile(candidate));
    report_.candidates.clear();
    report_.candidates.push_back(std::move(candidate));
    if (options_.keeps_costs) {
      TransferTimes transfers;
      HET_ASSIGN(report_.costs, measure_costs(transfers));
    }
    return true;
  }

  void keep() {
    std::map<std::string, double> times_us;
    for (const PlanCandidate& candidate : report_.candidates) {
      times_us[candidate.name] = 1e3 * candidate.measured_ms;
    }
    stores_.plans.keep(to_string(policy_), prepared_, to_stored(report_.candidates[report_.chosen]),
                       std::move(times_us));
  }

  Status add_by_priority() {
    PlanCandidate candidate;
    candidate.name = "by priority";
    CandidateWay& way = candidate.ways.emplace_back();
    HET_ASSIGN(way.placement, place_by_priority(prepared_, table_));
    HET_TRY(check_complete(prepared_, way.placement, table_));
    candidate.is_single = uses_one_device(candidate);
    report_.candidates.push_back(std::move(candidate));
    return {};
  }

  /// Predicts, and says how many requests keep its devices busy. One device knows that itself.
  void price(const CostModel& costs, PlanCandidate& candidate) const {
    candidate.predicted_ms = predicted_ms(costs, candidate);
    if (policy_ == Policy::Throughput && !candidate.is_single) {
      candidate.requests = flight(costs, candidate.ways).count + 1;
    }
  }

  /// The placement of nodes on these devices; empty reasons say it was the planner.
  Result<CandidateWay> make_way(std::vector<size_t> devices, bool in_stages) const {
    CandidateWay way;
    way.in_stages = in_stages;
    Placement& placement = way.placement;
    placement.devices = std::move(devices);
    placement.reasons.assign(placement.devices.size(), std::string(to_string(policy_)));
    std::vector<std::string> names;
    for (const size_t d : placement.devices) names.push_back(table_.devices()[d].member->name);
    if (in_stages) {
      HET_ASSIGN(placement.split, split_in_stages(prepared_, names));
    } else {
      HET_ASSIGN(placement.split, split_model(prepared_, names));
    }
    return way;
  }

  Status add_single(const CostModel& costs, size_t device) {
    const SingleDevicePlan plan = single_device_plan(costs.problem(), device);
    if (plan.assignment.empty()) return {};
    PlanCandidate candidate;
    candidate.name = table_.devices()[device].member->name + " alone";
    candidate.is_single = true;
    HET_ASSIGN(candidate.ways.emplace_back(),
               make_way(costs.node_devices(plan.assignment), /*in_stages=*/false));
    price(costs, candidate);
    PlanCandidate& by_priority = report_.candidates[0];
    if (by_priority.ways[0].placement.devices == candidate.ways[0].placement.devices) {
      by_priority.name = candidate.name;
    } else {
      report_.candidates.push_back(std::move(candidate));
    }
    return {};
  }

  /// False where the plans are among the candidates already.
  Result<bool> add_plans(const CostModel& costs, int round) {
    const PlanProblem& problem = costs.problem();
    const std::string suffix = round == 0 ? "" : fmt::format(", round {}", round + 1);
    if (policy_ == Policy::Latency) {
      HET_ASSIGN(const LatencyPlan plan, latency_plan(problem));
      return add(costs, "latency" + suffix, {{plan.assignment, 1}}, plan.seconds);
    }
    if (policy_ == Policy::Parallel) {
      HET_ASSIGN(const ParallelPlan plan, parallel_plan(problem));
      const std::vector<PlanShare> whole = {{plan.schedule.assignment, 1}};
      HET_ASSIGN(const bool is_new, add(costs, "parallel" + suffix, whole, plan.seconds));
      // Branches only overlap where subgraphs end as early as somebody waits for them; what that
      // costs in starts is measured.
      HET_ASSIGN(const bool is_new_in_stages,
                 add(costs, "parallel in stages" + suffix, whole, plan.seconds,
                     /*in_stages=*/true));
      return is_new || is_new_in_stages;
    }
    const auto draft_seconds = [&](const std::vector<PlanShare>& shares) -> Result<double> {
      HET_ASSIGN(const std::vector<CandidateWay> ways, make_ways(costs, shares));
      return flight(costs, ways).period;
    };
    HET_ASSIGN(const std::vector<PlanShare> one,
               draft_throughput(problem, /*mixed=*/false, draft_seconds));
    HET_ASSIGN(const bool is_new, add(costs, "throughput" + suffix, one));
    if (!options_.mixes || round > 0) return is_new;
    HET_ASSIGN(const std::vector<PlanShare> mix,
               draft_throughput(problem, /*mixed=*/true, draft_seconds));
    if (mix.empty()) return is_new;
    HET_ASSIGN(const bool is_mixed, add(costs, "mix" + suffix, mix));
    return is_new || is_mixed;
  }

  /// Every device that runs all of the model, by its speed: on paper no better than the mix, but in
  /// fact nothing waits for anything.
  Status add_side_by_side(const CostModel& costs) {
    std::vector<PlanShare> shares;
    for (const PlanCandidate& candidate : report_.candidates) {
      if (!candidate.is_single || !(milliseconds_of(candidate) > 0)) continue;
      shares.push_back(
          {costs.assignment(candidate.ways[0].placement.devices), 1 / milliseconds_of(candidate)});
    }
    normalise(shares);
    std::erase_if(shares, [](const PlanShare& part) { return part.share < kLeastShare; });
    if (shares.size() < 2) return {};
    std::ranges::stable_sort(shares, std::greater<>(), &PlanShare::share);
    HET_TRY(add(costs, "side by side", shares));
    return {};
  }

  Result<std::vector<CandidateWay>> make_ways(const CostModel& costs,
                                              const std::vector<PlanShare>& shares,
                                              bool in_stages = false) const {
    std::vector<CandidateWay> ways;
    for (const PlanShare& part : shares) {
      HET_ASSIGN(CandidateWay way, make_way(costs.node_devices(part.assignment), in_stages));
      way.share = part.share;
      add_way(ways, std::move(way));
    }
    return ways;
  }

  /// True where it is a candidate now that was none before. `seconds`: what the planner says, where
  /// that is more than the costs do.
  Result<bool> add(const CostModel& costs, std::string name, const std::vector<PlanShare>& shares,
                   double seconds = 0, bool in_stages = false) {
    PlanCandidate candidate;
    HET_ASSIGN(candidate.ways, make_ways(costs, shares, in_stages));
    const bool is_one_again = shares.size() > 1 && candidate.ways.size() == 1;
    candidate.name = is_one_again ? "one plan of the " + name : std::move(name);
    candidate.is_single = uses_one_device(candidate);
    price(costs, candidate);
    if (seconds > 0) candidate.predicted_ms = 1e3 * seconds;
    if (find_same(report_.candidates, candidate) != nullptr) return false;
    for (const CandidateWay& way : candidate.ways) {
      HET_ASSIGN(const bool taken, table_.confirm(way.placement.split));
      if (!taken) return false;
    }
    report_.candidates.push_back(std::move(candidate));
    return true;
  }

  /// Subgraphs take another time together than their nodes did among others.
  Status correct(CostModel& costs, PlanCandidate& candidate) {
    HET_TRY(compile(candidate));
    for (const CandidateWay& way : candidate.ways) {
      const std::vector<Subgraph>& subgraphs = way.placement.split.subgraphs;
      for (size_t i = 0; i < subgraphs.size(); ++i) {
        const Subgraph& subgraph = subgraphs[i];
        const size_t device = way.placement.devices[subgraph.nodes[0]];
        const double predicted_seconds = costs.seconds(subgraph.nodes, device);
        if (!check_inputs_static(*subgraph.model).ok()) continue;
        HET_ASSIGN(const auto request, zero_request(*way.compiled->subgraphs[i]));
        HET_ASSIGN(const double seconds, median_seconds({&request, 1}, kLeastPolicyRounds));
        if (predicted_seconds <= 0) continue;
        const double factor = std::clamp(seconds / predicted_seconds, 0.25, 4.0);
        costs.correct(subgraph.nodes, device, factor);
      }
    }
    return {};
  }

  bool uses_accelerator(const PlanCandidate& candidate) const {
    return std::ranges::any_of(candidate.ways, [&](const CandidateWay& way) {
      return std::ranges::any_of(way.placement.devices,
                                 [&](size_t d) { return is_accelerator_[d]; });
    });
  }

  /// Mixes mostly have ways that are candidates themselves.
  Status compile(PlanCandidate& candidate) {
    const bool with_accelerator = uses_accelerator(candidate);
    for (CandidateWay& way : candidate.ways) {
      if (way.compiled != nullptr) continue;
      for (const PlanCandidate& other : report_.candidates) {
        if (uses_accelerator(other) != with_accelerator) continue;
        for (const CandidateWay& known : other.ways) {
          if (known.compiled != nullptr && is_same_way(known, way)) way.compiled = known.compiled;
        }
      }
      if (way.compiled == nullptr) {
        HET_ASSIGN(way.compiled, factory_.compile(way.placement.split, with_accelerator));
      }
    }
    return {};
  }

  Status compile_all() {
    for (PlanCandidate& candidate : report_.candidates) HET_TRY(compile(candidate));
    return {};
  }

  const PlanOptions options_;
  const Policy policy_;  ///< what is planned for
  const Model& prepared_;
  SupportTable& table_;
  Stores stores_;
  const PlanFactory& factory_;
  std::vector<bool> is_accelerator_;  ///< per device
  PlanReport report_;
};

}  // namespace

Result<PlanReport> plan_by_policy(PlanOptions options, const Model& prepared, SupportTable& table,
                                  Stores stores, const PlanFactory& factory) {
  return Planner(options, prepared, table, stores, factory).run();
}

Result<std::optional<PlanReport>> plan_again(PlanOptions options, const Model& prepared,
                                             SupportTable& table, Stores stores,
                                             const PlanFactory& factory, const PlanReport& before,
                                             const std::vector<SpeedChange>& changes) {
  return Planner(options, prepared, table, stores, factory).run_again(before, changes);
}

}  // namespace het::hetero
