#include "inference/readers/onnx/external_locations.h"

namespace het::onnx {
namespace {

using Locations = std::set<std::string_view>;

void add_nodes(const std::vector<ParsedNode>& nodes, Locations& found);

void add_tensor(const ParsedTensor& tensor, Locations& found) {
  if (tensor.sparse) {
    add_tensor(tensor.sparse->values, found);
    add_tensor(tensor.sparse->indices, found);
  }
  if (!tensor.external) return;
  for (const auto& [key, value] : tensor.external_entries) {
    if (key == "location") found.insert(value);
  }
}

void add_graph(const ParsedGraph& graph, Locations& found) {
  for (const ParsedTensor& tensor : graph.initializers) add_tensor(tensor, found);
  add_nodes(graph.nodes, found);
}

void add_attributes(const std::vector<ParsedAttribute>& attributes, Locations& found) {
  for (const ParsedAttribute& attribute : attributes) {
    if (attribute.tensor) add_tensor(*attribute.tensor, found);
    if (attribute.graph) add_graph(*attribute.graph, found);
  }
}

void add_nodes(const std::vector<ParsedNode>& nodes, Locations& found) {
  for (const ParsedNode& node : nodes) add_attributes(node.attributes, found);
}

}  // namespace

Locations external_locations(const ParsedModel& model) {
  Locations found;
  add_graph(model.graph, found);
  for (const ParsedFunction& function : model.functions) {
    add_attributes(function.defaults, found);
    add_nodes(function.nodes, found);
  }
  return found;
}

}  // namespace het::onnx
