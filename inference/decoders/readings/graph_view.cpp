#include "inference/decoders/readings/graph_view.h"

#include <algorithm>

namespace het {

const Node* maker_of(const Model& model, const std::string& output) {
  const auto found = std::find_if(model.outputs().begin(), model.outputs().end(),
                                  [&](const ModelOutput& o) { return o.name == output; });
  if (found == model.outputs().end()) return nullptr;
  const Node* node = found->value->producer();
  while (node != nullptr) {
    const std::string& type = node->op_type();
    const bool transparent = type == "Reshape" || type == "Flatten" || type == "Squeeze" ||
                             type == "Unsqueeze" || type == "Identity" || type == "Cast";
    if (!transparent || node->input(0) == nullptr) return node;
    node = node->input(0)->producer();
  }
  return nullptr;
}

bool is_made_by(const Model& model, const Port& port, std::string_view op_type) {
  const Node* maker = maker_of(model, port.name);
  return maker != nullptr && maker->op_type() == op_type;
}

bool has_op(const Model& model, std::string_view op_type) {
  return std::any_of(model.nodes().begin(), model.nodes().end(),
                     [&](const auto& node) { return node->op_type() == op_type; });
}

bool fits(const GraphView& graph, const std::string& converter) {
  DecoderConfig config = graph.entry;
  config.converter = converter;
  return create_decoder(config, graph.inputs, graph.outputs).has_value();
}

std::optional<int64_t> vector_length(const Port& port, const std::vector<Port>& inputs) {
  const Shape& shape = port.desc.shape;
  if (shape.empty() || !is_float(port.desc.type)) return std::nullopt;
  const int64_t batch = picture_batch(inputs);
  // Else these are steps or objects.
  if (shape.size() > 1 && shape[0] != batch && shape[0] != kUnknownDim && batch != kUnknownDim)
    return std::nullopt;
  int64_t length = 1;
  for (size_t i = shape.size() > 1 ? 1 : 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (shape[i] < 2 || length != 1) return std::nullopt;
    length = shape[i];
  }
  return length > 1 ? std::optional(length) : std::nullopt;
}

}  // namespace het
