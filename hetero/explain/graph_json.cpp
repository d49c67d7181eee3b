#include "hetero/explain/graph_json.h"

#include <nlohmann/json.hpp>

namespace het::hetero {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson to_json(const TensorDesc& desc) {
  OrderedJson json;
  json["type"] = to_string(desc.type);
  json["shape"] = desc.shape;
  const auto bytes = dense_size_bytes(desc);
  json["bytes"] = desc.is_static() && bytes ? OrderedJson(*bytes) : OrderedJson(nullptr);
  return json;
}

OrderedJson to_json(const Node& node) {
  OrderedJson json;
  json["name"] = node.name();
  json["type"] = node.qualified_type();
  json["original_names"] = node.original_names();
  json["inputs"] = OrderedJson::array();
  for (const Value* input : node.inputs()) {
    json["inputs"].push_back(input != nullptr ? OrderedJson(input->name()) : OrderedJson(nullptr));
  }
  json["outputs"] = OrderedJson::array();
  for (const Value* output : node.outputs()) {
    OrderedJson value = to_json(output->desc());
    value["name"] = output->name();
    json["outputs"].push_back(std::move(value));
  }
  return json;
}

OrderedJson to_json(const SubgraphPort& port) {
  return {{"subgraph", port.subgraph}, {"index", port.index}};
}

OrderedJson to_json(const TensorSource& source) {
  switch (source.kind) {
    case TensorSource::Kind::ModelInput:
      return {{"model_input", source.index}};
    case TensorSource::Kind::SubgraphOutput:
      return {{"subgraph", source.subgraph}, {"output", source.index}};
    case TensorSource::Kind::Constant:
      return {{"constant", to_string(source.constant.desc())}};
  }
  return {};
}

std::string to_text(const OrderedJson& json) {
  return json.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

OrderedJson subgraph_to_json(const Model& model, const Subgraph& subgraph) {
  OrderedJson json;
  json["name"] = subgraph.name;
  json["device"] = subgraph.device;
  json["nodes"] = OrderedJson::array();
  for (const size_t node : subgraph.nodes) json["nodes"].push_back(model.nodes()[node]->name());
  json["dependencies"] = subgraph.dependencies;
  json["inputs"] = OrderedJson::array();
  for (size_t i = 0; i < subgraph.inputs.size(); ++i) {
    OrderedJson input;
    input["name"] = subgraph.model->inputs()[i].value->name();
    input["source"] = to_json(subgraph.inputs[i]);
    json["inputs"].push_back(std::move(input));
  }
  json["outputs"] = OrderedJson::array();
  for (const ModelOutput& output : subgraph.model->outputs()) {
    json["outputs"].push_back(output.name);
  }
  return json;
}

}  // namespace

std::string placement_to_json(const Model& model, const std::vector<NodeSupport>& rows) {
  OrderedJson json;
  json["model"] = model.name();
  json["devices"] = OrderedJson::object();
  json["nodes"] = OrderedJson::array();
  for (size_t i = 0; i < model.nodes().size(); ++i) {
    OrderedJson node = to_json(*model.nodes()[i]);
    const NodeSupport row = i < rows.size() ? rows[i] : NodeSupport();
    node["device"] = row.supported() ? OrderedJson(row.device) : OrderedJson(nullptr);
    node["reason"] = row.reason;
    json["nodes"].push_back(std::move(node));
    if (!row.supported()) continue;
    OrderedJson& count = json["devices"][row.device];
    count = count.is_null() ? 1 : count.get<size_t>() + 1;
  }
  return to_text(json);
}

std::string split_to_json(const Model& model, const Split& split) {
  OrderedJson json;
  json["model"] = model.name();
  json["subgraphs"] = OrderedJson::array();
  for (const Subgraph& subgraph : split.subgraphs) {
    json["subgraphs"].push_back(subgraph_to_json(model, subgraph));
  }
  json["cuts"] = OrderedJson::array();
  for (const CutValue& value : split.cuts) {
    OrderedJson cut = to_json(value.desc);
    cut["name"] = value.name;
    cut["producer"] = to_json(value.producer);
    cut["readers"] = OrderedJson::array();
    for (const SubgraphPort& reader : value.readers) cut["readers"].push_back(to_json(reader));
    json["cuts"].push_back(std::move(cut));
  }
  json["inputs"] = OrderedJson::array();
  for (size_t i = 0; i < split.input_readers.size(); ++i) {
    OrderedJson input;
    input["name"] = model.inputs()[i].value->name();
    input["readers"] = OrderedJson::array();
    for (const SubgraphPort& reader : split.input_readers[i]) {
      input["readers"].push_back(to_json(reader));
    }
    json["inputs"].push_back(std::move(input));
  }
  json["outputs"] = OrderedJson::array();
  for (size_t i = 0; i < split.outputs.size(); ++i) {
    OrderedJson output;
    output["name"] = model.outputs()[i].name;
    output["source"] = to_json(split.outputs[i]);
    json["outputs"].push_back(std::move(output));
  }
  json["nodes"] = OrderedJson::array();
  for (size_t i = 0; i < model.nodes().size(); ++i) {
    OrderedJson node = to_json(*model.nodes()[i]);
    node["subgraph"] = split.subgraph_of[i];
    json["nodes"].push_back(std::move(node));
  }
  return to_text(json);
}

}  // namespace het::hetero
