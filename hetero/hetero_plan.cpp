#include "hetero/hetero_plan.h"

#include <algorithm>
#include <utility>

namespace het::hetero {

HeteroPlan::HeteroPlan(const Split& whole, std::vector<std::shared_ptr<CompiledModel>> compiled,
                       std::vector<size_t> kinds)
    : subgraphs(std::move(compiled)),
      memory_kinds(std::move(kinds)),
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
}

}  // namespace het::hetero
