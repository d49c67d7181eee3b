#include "hetero/split/subgraph_links.h"

#include <algorithm>
#include <map>
#include <utility>

namespace het::hetero {

void connect_subgraphs(Split& split, size_t inputs) {
  split.input_readers.resize(inputs);
  std::map<std::pair<size_t, size_t>, std::vector<SubgraphPort>> readers;
  for (size_t i = 0; i < split.subgraphs.size(); ++i) {
    Subgraph& subgraph = split.subgraphs[i];
    for (size_t k = 0; k < subgraph.inputs.size(); ++k) {
      const TensorSource& source = subgraph.inputs[k];
      if (source.kind == TensorSource::Kind::ModelInput) {
        split.input_readers[source.index].push_back({i, k});
      } else {
        readers[{source.subgraph, source.index}].push_back({i, k});
        subgraph.dependencies.push_back(source.subgraph);
      }
    }
    std::vector<size_t>& before = subgraph.dependencies;
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
  }
  for (auto& [port, list] : readers) {
    split.cuts.push_back({{}, {}, {port.first, port.second}, std::move(list)});
  }
}

}  // namespace het::hetero
