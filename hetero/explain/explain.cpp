#include "hetero/explain/explain.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace het::hetero {
namespace {

std::string bytes_text(const TensorDesc& desc) {
  const auto bytes = dense_size_bytes(desc);
  return bytes ? fmt::format("{} bytes", *bytes) : std::string("sized at run time");
}

using NodeIndices = std::unordered_map<const Node*, size_t>;

/// The index of a cut's first reader on its other side; nothing where there is none.
std::optional<size_t> reader_of(const Model& prepared, const NodeIndices& indices,
                                const Split& split, const CutValue& cut) {
  const Value* const value = prepared.find_value(cut.name);
  if (value == nullptr) return std::nullopt;
  std::optional<size_t> first;
  for (const Node* consumer : value->consumers()) {
    const size_t n = indices.at(consumer);
    if (split.subgraph_of[n] == cut.producer.subgraph) continue;
    first = std::min(n, first.value_or(n));
  }
  return first;
}

/// `times` has nothing where nothing was measured.
std::string explain_way(const Model& prepared, const NodeIndices& indices, const CandidateWay& way,
                        const PlanReport::WayTimes& times) {
  const Placement& placement = way.placement;
  const Split& split = placement.split;
  std::string text;
  for (size_t i = 0; i < split.subgraphs.size(); ++i) {
    const Subgraph& subgraph = split.subgraphs[i];
    const Node& first = *prepared.nodes()[subgraph.nodes.front()];
    const Node& last = *prepared.nodes()[subgraph.nodes.back()];
    text += fmt::format("\nsubgraph{} on {}: {} nodes, {} ({}) to {} ({})", i + 1, subgraph.device,
                        subgraph.nodes.size(), first.name(), first.op_type(), last.name(),
                        last.op_type());
    if (i < times.subgraphs.size()) {
      text += fmt::format(", predicted {:.3f} ms, alone measured {:.3f} ms",
                          times.subgraphs[i].predicted_ms, times.subgraphs[i].measured_ms);
    }
    if (subgraph.dependencies.empty()) continue;
    text += "; after";
    for (const size_t before : subgraph.dependencies)
      text += fmt::format(" subgraph{}", before + 1);
  }
  for (size_t i = 0; i < split.cuts.size(); ++i) {
    const CutValue& cut = split.cuts[i];
    const TensorDesc& desc = way.compiled->split.cuts[i].desc;
    text += fmt::format("\n'{}' {}, {}: subgraph{} on {} to", cut.name, to_string(desc),
                        bytes_text(desc), cut.producer.subgraph + 1,
                        split.subgraphs[cut.producer.subgraph].device);
    for (const SubgraphPort& reader : cut.readers) {
      text += fmt::format(" subgraph{} on {}", reader.subgraph + 1,
                          split.subgraphs[reader.subgraph].device);
    }
    if (i < times.cut_ms.size()) text += fmt::format(", {:.3f} ms", times.cut_ms[i]);
    const std::optional<size_t> reader = reader_of(prepared, indices, split, cut);
    if (!reader) continue;
    const std::string& reason = placement.reasons[*reader];
    if (!reason.empty())
      text += fmt::format(" because of '{}': {}", prepared.nodes()[*reader]->name(), reason);
  }
  return text;
}

}  // namespace

std::string explain(const Model& prepared, const PlanReport& report, const SupportTable& table) {
  const std::vector<CandidateWay>& ways = report.candidates[report.chosen].ways;
  std::string text = describe(report, table);
  NodeIndices indices;
  for (size_t n = 0; n < prepared.nodes().size(); ++n) indices[prepared.nodes()[n].get()] = n;
  for (size_t i = 0; i < ways.size(); ++i) {
    if (ways.size() > 1) text += fmt::format("\n{:.0f} % of all executions:", 100 * ways[i].share);
    text += explain_way(prepared, indices, ways[i],
                        i < report.times.size() ? report.times[i] : PlanReport::WayTimes());
  }
  return text;
}

}  // namespace het::hetero
