#include "hetero/placement/cost_model.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

namespace het::hetero {
namespace {

/// The one node that reads everything `node` computes, else null.
const Node* only_reader(const Model& model, const Node& node) {
  const Node* reader = nullptr;
  for (const Value* output : node.outputs()) {
    if (output == nullptr) continue;
    for (const Node* consumer : output->consumers()) {
      if (reader != nullptr && reader != consumer) return nullptr;
      reader = consumer;
    }
    const bool is_result = std::ranges::any_of(
        model.outputs(), [&](const ModelOutput& result) { return result.value == output; });
    if (is_result) return nullptr;
  }
  return reader;
}

}  // namespace

CostModel::CostModel(const Model& prepared, const NodeTimes& nodes, const TransferTimes& transfers)
    : unit_of_(prepared.nodes().size()) {
  problem_.devices = nodes.seconds.empty() ? 0 : nodes.seconds[0].size();
  problem_.home = transfers.home;
  find_units(prepared, nodes);
  add_tensors(prepared, transfers);
}

/// Pass 1: a node joins its only reader where a device computes both at once and every device that
/// takes one takes the other: cutting between them would cost what nobody measured. Nothing leaves
/// a unit but through its last node, so units are as acyclic as nodes.
void CostModel::find_units(const Model& prepared, const NodeTimes& times) {
  const size_t nodes = prepared.nodes().size();
  std::unordered_map<const Node*, size_t> index;
  for (size_t n = 0; n < nodes; ++n) index[prepared.nodes()[n].get()] = n;
  const auto takes_alike = [&](size_t a, size_t b) {
    for (size_t d = 0; d < problem_.devices; ++d) {
      if ((times.seconds[a][d] == kImpossible) != (times.seconds[b][d] == kImpossible)) {
        return false;
      }
    }
    return true;
  };
  const auto fused_somewhere = [&](size_t n) {
    return std::ranges::any_of(times.is_fused[n], [](bool fused) { return fused; });
  };
  // Behind its readers, so that chains end at their last node.
  std::vector<size_t> last(nodes);
  for (size_t n = nodes; n-- > 0;) {
    last[n] = n;
    const Node* const reader = only_reader(prepared, *prepared.nodes()[n]);
    if (reader == nullptr) continue;
    const size_t r = index.at(reader);
    if (takes_alike(n, r) && (fused_somewhere(n) || fused_somewhere(r))) last[n] = last[r];
  }
  std::vector<size_t> unit(nodes);
  for (size_t n = 0; n < nodes; ++n) {
    if (last[n] != n) continue;
    unit[n] = problem_.units.size();
    problem_.units.push_back({std::vector<double>(problem_.devices, 0.0)});
  }
  for (size_t n = 0; n < nodes; ++n) {
    unit_of_[n] = unit[last[n]];
    for (size_t d = 0; d < problem_.devices; ++d) {
      problem_.units[unit_of_[n]].seconds[d] += times.seconds[n][d];
    }
  }
}

/// Pass 2: what units exchange. Constants are everywhere and cost nothing.
void CostModel::add_tensors(const Model& prepared, const TransferTimes& transfers) {
  std::unordered_map<const Node*, size_t> index;
  for (size_t n = 0; n < prepared.nodes().size(); ++n) index[prepared.nodes()[n].get()] = n;
  for (const auto& value : prepared.values()) {
    if (value->is_constant()) continue;
    PlanTensor tensor;
    if (value->producer() != nullptr) tensor.producer = unit_of_[index.at(value->producer())];
    std::set<size_t> readers;
    for (const Node* consumer : value->consumers()) readers.insert(unit_of_[index.at(consumer)]);
    if (tensor.producer != kOutside) readers.erase(tensor.producer);
    tensor.consumers.assign(readers.begin(), readers.end());
    tensor.leaves = std::ranges::any_of(
        prepared.outputs(), [&](const ModelOutput& out) { return out.value == value.get(); });
    if (tensor.consumers.empty() && !tensor.leaves) continue;
    if (tensor.producer == kOutside && tensor.consumers.empty()) continue;
    tensor.transfer_seconds.reserve(transfers.times.size());
    for (size_t from = 0; from < transfers.places; ++from) {
      for (size_t to = 0; to < transfers.places; ++to) {
        tensor.transfer_seconds.push_back(transfers.seconds(from, to, value->desc()));
      }
    }
    problem_.tensors.push_back(std::move(tensor));
  }
}

std::vector<size_t> CostModel::node_devices(const Assignment& assignment) const {
  std::vector<size_t> devices;
  devices.reserve(unit_of_.size());
  for (const size_t unit : unit_of_) devices.push_back(assignment[unit]);
  return devices;
}

Assignment CostModel::assignment(const std::vector<size_t>& node_devices) const {
  Assignment result(problem_.units.size());
  for (size_t n = 0; n < unit_of_.size(); ++n) result[unit_of_[n]] = node_devices[n];
  return result;
}

double CostModel::seconds(const std::vector<size_t>& nodes, size_t device) const {
  std::set<size_t> units;
  for (const size_t n : nodes) units.insert(unit_of_[n]);
  double sum = 0.0;
  for (const size_t unit : units) sum += problem_.units[unit].seconds[device];
  return sum;
}

FrameFlow CostModel::flow(const Split& split, const std::vector<size_t>& node_devices) const {
  FrameFlow steps;
  std::vector<size_t> subgraph_of(problem_.units.size());
  for (size_t n = 0; n < unit_of_.size(); ++n) subgraph_of[unit_of_[n]] = split.subgraph_of[n];
  for (const Subgraph& subgraph : split.subgraphs) {
    const size_t device = node_devices[subgraph.nodes[0]];
    steps.push_back({device, seconds(subgraph.nodes, device), {}});
  }
  for (const PlanTensor& tensor : problem_.tensors) {
    const bool is_input = tensor.producer == kOutside;
    const size_t source = is_input ? 0 : subgraph_of[tensor.producer];
    const size_t from = is_input ? problem_.home : steps[source].resource;
    std::map<size_t, size_t> transfers;  // by place
    const auto transfer_to = [&](size_t to) {
      const auto [known, is_new] = transfers.try_emplace(to, steps.size());
      if (is_new) {
        const size_t link = from * problem_.places() + to;
        steps.push_back({problem_.devices + link, tensor.transfer_seconds[link], {}});
        if (!is_input) steps.back().after.push_back(source);
      }
      return known->second;
    };
    for (const size_t consumer : tensor.consumers) {
      const size_t reader = subgraph_of[consumer];
      const size_t to = steps[reader].resource;
      if (to != from) {
        const size_t transfer = transfer_to(to);
        steps[reader].after.push_back(transfer);
      } else if (!is_input && reader != source) {
        steps[reader].after.push_back(source);
      }
    }
    if (tensor.leaves && from != problem_.home) transfer_to(problem_.home);
  }
  return steps;
}

void CostModel::correct(const std::vector<size_t>& nodes, size_t device, double factor) {
  std::set<size_t> units;
  for (const size_t n : nodes) units.insert(unit_of_[n]);
  for (const size_t unit : units) problem_.units[unit].seconds[device] *= factor;
}

}  // namespace het::hetero
