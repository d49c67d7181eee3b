#include "hetero/execution/plan_mix.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "hetero/members/optimal_requests.h"

namespace het::hetero {
namespace {

std::vector<double> shares_of(const std::vector<PlanWay>& ways) {
  std::vector<double> shares;
  for (const PlanWay& way : ways) shares.push_back(way.share);
  return shares;
}

/// Let in besides those that keep a device busy: their inputs are brought meanwhile. Of the bound
/// simulated machines with slow links (three devices) lost 6 to 24 % with two, 9 to 13 % with four,
/// 1 to 12 % with six; with two devices two lost 1 to 7 %, four 1 to 5 %, six none to 5 %, but
/// frames took longer there (other plans were chosen).
constexpr size_t kOnTheirWay = 4;

/// One for each device of several subgraphs.
std::vector<PlanMix::Gates> make_gates(const std::vector<PlanWay>& ways) {
  struct Visits {
    size_t subgraphs = 0;
    size_t limit = 2;  ///< one runs, the next one is queued
    std::shared_ptr<DeviceGate> gate;
  };
  std::map<std::string_view, Visits> devices;
  for (const PlanWay& way : ways) {
    for (size_t i = 0; i < way.plan->subgraphs.size(); ++i) {
      Visits& visits = devices[way.plan->split.subgraphs[i].device];
      ++visits.subgraphs;
      visits.limit = std::max(visits.limit, optimal_requests(*way.plan->subgraphs[i]));
    }
  }
  for (auto& [name, visits] : devices) {
    if (visits.subgraphs > 1)
      visits.gate = std::make_shared<DeviceGate>(visits.limit + kOnTheirWay);
  }
  std::vector<PlanMix::Gates> gates;
  for (const PlanWay& way : ways) {
    PlanMix::Gates& of_way = gates.emplace_back();
    for (const Subgraph& subgraph : way.plan->split.subgraphs) {
      of_way.push_back(devices[subgraph.device].gate);
    }
  }
  return gates;
}

}  // namespace

std::vector<size_t> order_turns(const std::vector<double>& shares, size_t turns) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<double> due(shares.size(), 0.0);
  std::vector<size_t> order;
  for (size_t turn = 0; turn < turns; ++turn) {
    for (size_t w = 0; w < shares.size(); ++w) due[w] += shares[w] / sum;
    const auto next = static_cast<size_t>(std::ranges::max_element(due) - due.begin());
    due[next] -= 1.0;
    order.push_back(next);
  }
  return order;
}

PlanMix::PlanMix(std::vector<PlanWay> ways, size_t requests, std::string explanation)
    : ways_(std::move(ways)),
      requests_(requests),
      explanation_(std::move(explanation)),
      turns_(ways_.size() == 1 ? std::vector<size_t>() : order_turns(shares_of(ways_), kTurns)),
      gates_(make_gates(ways_)) {}

bool PlanMix::uses(std::string_view device) const {
  return std::ranges::any_of(ways_, [&](const PlanWay& way) {
    return std::ranges::find(way.plan->split.subgraphs, device, &Subgraph::device) !=
           way.plan->split.subgraphs.end();
  });
}

size_t PlanMix::way_of(uint64_t number) const {
  return turns_.empty() ? 0 : turns_[number % kTurns];
}

}  // namespace het::hetero
