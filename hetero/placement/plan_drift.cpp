#include "hetero/placement/plan_drift.h"

#include <algorithm>
#include <utility>

namespace het::hetero {
namespace {

constexpr double kMostDrift = 4.0 / 3;

/// What all subgraphs of a device took and take.
struct DeviceSum {
  double planned = 0;
  double now = 0;
  std::vector<bool> seen;  ///< nodes in them
};

/// Most executions are, not just the middle one: a change under way has not arrived.
bool is_off(const PlanTimes::Change& change) {
  const auto planned = static_cast<double>(change.planned.count());
  return static_cast<double>(change.low.count()) > planned * kMostDrift ||
         static_cast<double>(change.high.count()) < planned / kMostDrift;
}

double milliseconds(PlanTimes::Duration time) {
  return 1e-6 * static_cast<double>(time.count());
}

}  // namespace

PlanDrift find_drift(const PlanMix& plan, const SupportTable& table, size_t nodes) {
  PlanDrift drift;
  std::vector<DeviceSum> sums(table.devices().size());
  for (DeviceSum& sum : sums) sum.seen.resize(nodes);
  for (const PlanWay& way : plan.ways()) {
    for (size_t i = 0; i < way.plan->split.subgraphs.size(); ++i) {
      const auto change = way.plan->times->change(i);
      if (!change) continue;
      const Subgraph& subgraph = way.plan->split.subgraphs[i];
      const auto device = std::ranges::find_if(table.devices(), [&](const PlacementDevice& each) {
        return each.member->name == subgraph.device;
      });
      const auto d = static_cast<size_t>(device - table.devices().begin());
      DeviceSum& sum = sums[d];
      sum.planned += milliseconds(change->planned);
      sum.now += milliseconds(change->now);
      SpeedChange here{d, {}, change->factor()};
      for (const size_t n : subgraph.nodes) {
        if (!sum.seen[n]) here.nodes.push_back(n);
        sum.seen[n] = true;
      }
      drift.changes.push_back(std::move(here));
      if (!is_off(*change)) continue;
      drift.text += fmt::format("{}{} on {} takes {:.3f} ms instead of {:.3f}",
                                drift.text.empty() ? "" : ", ", subgraph.name, subgraph.device,
                                milliseconds(change->now), milliseconds(change->planned));
    }
  }
  for (size_t d = 0; d < sums.size(); ++d) {
    if (sums[d].planned <= 0) continue;
    SpeedChange others{d, {}, sums[d].now / sums[d].planned};
    for (size_t n = 0; n < nodes; ++n) {
      if (!sums[d].seen[n]) others.nodes.push_back(n);
    }
    drift.changes.push_back(std::move(others));
  }
  return drift;
}

}  // namespace het::hetero
