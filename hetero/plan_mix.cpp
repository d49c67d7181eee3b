#include "hetero/plan_mix.h"

#include <algorithm>
#include <utility>

namespace het::hetero {
namespace {

/// Each turn goes to the way that is furthest behind its share.
std::vector<size_t> order_turns(const std::vector<PlanWay>& ways, size_t turns) {
  if (ways.size() == 1) return {};
  double sum = 0;
  for (const PlanWay& way : ways) sum += way.share;
  std::vector<double> due(ways.size(), 0.0);
  std::vector<size_t> order;
  for (size_t turn = 0; turn < turns; ++turn) {
    for (size_t w = 0; w < ways.size(); ++w) due[w] += ways[w].share / sum;
    const auto next = static_cast<size_t>(std::ranges::max_element(due) - due.begin());
    due[next] -= 1.0;
    order.push_back(next);
  }
  return order;
}

}  // namespace

PlanMix::PlanMix(std::vector<PlanWay> ways, size_t requests, std::string explanation)
    : ways_(std::move(ways)),
      requests_(requests),
      explanation_(std::move(explanation)),
      turns_(order_turns(ways_, kTurns)) {}

bool PlanMix::uses(std::string_view device) const {
  return std::ranges::any_of(ways_, [&](const PlanWay& way) {
    return std::ranges::find(way.plan->split.subgraphs, device, &Subgraph::device) !=
           way.plan->split.subgraphs.end();
  });
}

size_t PlanMix::next_way() const {
  return turns_.empty() ? 0 : turns_[started_.fetch_add(1, std::memory_order_relaxed) % kTurns];
}

}  // namespace het::hetero
