#include "hetero/execution/hetero_plan.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace het::hetero {
namespace {

/// Per subgraph the nodes of the longest way from its first to a result.
std::vector<size_t> nodes_behind(const Split& split,
                                 const std::vector<std::vector<size_t>>& dependents) {
  std::vector<size_t> counts(split.subgraphs.size());
  for (size_t i = counts.size(); i-- > 0;) {
    for (const size_t next : dependents[i]) counts[i] = std::max(counts[i], counts[next]);
    counts[i] += split.subgraphs[i].nodes.size();
  }
  return counts;
}

std::vector<size_t> find_turns(Executor executor, const Split& split,
                               const std::vector<std::vector<size_t>>& dependents) {
  if (executor == Executor::Parallel) return {};
  std::vector<size_t> order(split.subgraphs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (executor == Executor::Dataflow) {
    const std::vector<size_t> behind = nodes_behind(split, dependents);
    std::ranges::stable_sort(order, std::greater<>(), [&](size_t i) { return behind[i]; });
  }
  std::vector<size_t> turns(order.size());
  for (size_t turn = 0; turn < order.size(); ++turn) turns[order[turn]] = turn;
  return turns;
}

}  // namespace

HeteroPlan::HeteroPlan(const Split& whole, std::vector<std::shared_ptr<CompiledModel>> compiled,
                       std::vector<size_t> kinds, Executor executor)
    : subgraphs(std::move(compiled)),
      memory_kinds(std::move(kinds)),
      in_place(whole.subgraphs.size(), {MemoryKind::Host}),
      dependents(whole.subgraphs.size()) {
  for (const Subgraph& subgraph : whole.subgraphs) {
    split.subgraphs.push_back({subgraph.name, subgraph.device, subgraph.nodes, nullptr,
                               subgraph.inputs, subgraph.dependencies});
  }
  split.subgraph_of = whole.subgraph_of;
  split.input_readers = whole.input_readers;
  split.outputs = whole.outputs;
  split.cuts = whole.cuts;
  for (size_t i = 0; i < dependents.size(); ++i) {
    for (const size_t before : split.subgraphs[i].dependencies) dependents[before].push_back(i);
  }
  for (size_t i = 0; i < split.cuts.size(); ++i) {
    const CutValue& cut = split.cuts[i];
    if (!cut.desc.is_static()) {
      unsized_cuts.push_back(i);
    } else if (std::ranges::any_of(split.outputs, [&](const TensorSource& source) {
                 return source.kind == TensorSource::Kind::SubgraphOutput &&
                        SubgraphPort{source.subgraph, source.index} == cut.producer;
               })) {
      delivered_cuts.push_back(i);
    }
  }
  turns = find_turns(executor, split, dependents);
}

}  // namespace het::hetero
