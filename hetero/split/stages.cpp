#include "hetero/split/stages.h"

#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace het::hetero {

Result<Split> split_in_stages(const Model& model, const std::vector<std::string>& devices) {
  const auto& nodes = model.nodes();
  std::unordered_map<const Node*, size_t> index;
  for (size_t n = 0; n < nodes.size(); ++n) index[nodes[n].get()] = n;
  // Values that cross, one bit each: what lies before and behind every node.
  std::vector<std::vector<bool>> before(nodes.size());
  std::vector<std::vector<bool>> behind(nodes.size());
  size_t crossings = 0;
  const auto for_each_edge = [&](size_t to, const auto& visit) {
    for (const Value* input : nodes[to]->inputs()) {
      if (input != nullptr && input->producer() != nullptr) visit(index.at(input->producer()), to);
    }
  };
  for (size_t n = 0; n < nodes.size(); ++n) {
    for_each_edge(n, [&](size_t from, size_t to) { crossings += devices[from] != devices[to]; });
  }
  const auto unite = [](std::vector<bool>& all, const std::vector<bool>& part) {
    for (size_t i = 0; i < part.size(); ++i) all[i] = all[i] || part[i];
  };
  size_t crossing = 0;
  for (size_t n = 0; n < nodes.size(); ++n) {
    before[n].resize(crossings);
    behind[n].resize(crossings);
    for_each_edge(n, [&](size_t from, size_t to) {
      unite(before[to], before[from]);
      if (devices[from] != devices[to]) before[to][crossing++] = true;
    });
  }
  for (size_t n = nodes.size(); n-- > 0;) {
    size_t inputs = 0;
    for_each_edge(n, [&](size_t from, size_t to) { inputs += devices[from] != devices[to]; });
    crossing -= inputs;
    size_t next = crossing;
    for_each_edge(n, [&](size_t from, size_t to) {
      unite(behind[from], behind[to]);
      if (devices[from] != devices[to]) behind[from][next++] = true;
    });
  }
  // A path that leaves a stage and comes back would add to what lies before: there is none.
  std::map<std::tuple<std::string, std::vector<bool>, std::vector<bool>>, size_t> stages;
  // Stages as devices of their own; '|' is in no device's name.
  std::vector<std::string> names(nodes.size());
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (devices[n].empty()) continue;
    const size_t stage =
        stages.try_emplace({devices[n], before[n], behind[n]}, stages.size()).first->second;
    names[n] = fmt::format("{}|{}", devices[n], stage);
  }
  HET_ASSIGN(Split split, split_model(model, names));
  for (Subgraph& subgraph : split.subgraphs) {
    subgraph.device.erase(subgraph.device.find('|'));
  }
  return split;
}

}  // namespace het::hetero
