#include "inference/readers/openvino_ir/graph.h"

#include <algorithm>
#include <set>

#include "inference/readers/file_order.h"
#include "inference/readers/openvino_ir/limits.h"
#include "inference/readers/openvino_ir/numbers.h"
#include "inference/readers/openvino_ir/parse.h"
#include "inference/readers/openvino_ir/translate.h"

namespace het::ir {
namespace {

/// Tensor names as a port lists them; a comma inside a name has a backslash before it.
std::vector<std::string> split_names(std::string_view names) {
  std::vector<std::string> found(1);
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == '\\' && i + 1 < names.size() && names[i + 1] == ',') {
      found.back() += names[++i];
    } else if (names[i] == ',') {
      found.emplace_back();
    } else {
      found.back() += names[i];
    }
  }
  std::erase(found, "");
  return found;
}

/// Ports are sorted by id.
const ParsedPort* find_port(const std::vector<ParsedPort>& ports, int64_t id) {
  const auto found =
      std::lower_bound(ports.begin(), ports.end(), id,
                       [](const ParsedPort& port, int64_t i) { return port.id < i; });
  return found != ports.end() && found->id == id ? &*found : nullptr;
}

}  // namespace

GraphBuilder::GraphBuilder(FileContext& file, const ParsedNet& net, const BodyPlan* plan,
                           size_t depth)
    : file_(file),
      net_(net),
      plan_(plan),
      depth_(depth),
      model_(std::make_unique<Model>(net.name.empty() ? "model" : std::string(net.name))),
      graph_{file, *model_, {}, {}, {}} {
  graph_.build_body = [this](const pugi::xml_node& element,
                             const BodyPlan& inner_plan) -> Result<std::shared_ptr<Model>> {
    if (depth_ + 1 >= kMaxBodyDepth) {
      return error(StatusCode::OutOfMemory, "bodies are nested deeper than {}", kMaxBodyDepth);
    }
    HET_ASSIGN(const ParsedNet inner, parse_net(element, file_.budget));
    HET_ASSIGN(std::unique_ptr<Model> model,
               GraphBuilder(file_, inner, &inner_plan, depth_ + 1).build());
    return std::shared_ptr<Model>(std::move(model));
  };
}

Result<std::unique_ptr<Model>> GraphBuilder::build() {
  HET_TRY(index_layers());
  HET_TRY(connect_ports());
  HET_TRY(sort_layers());
  HET_TRY(add_inputs());
  HET_TRY(add_layers());
  HET_TRY(add_results());
  return std::move(model_);
}

// 1. Layers by id.
Status GraphBuilder::index_layers() {
  for (size_t i = 0; i < net_.layers.size(); ++i) {
    const ParsedLayer& layer = net_.layers[i];
    if (!layers_.emplace(layer.id, i).second) {
      return error(StatusCode::ParseError, "the id of {} is that of another layer, too",
                   describe(layer));
    }
  }
  return {};
}

// 2. Edges: every input port is fed by one output port.
Status GraphBuilder::connect_ports() {
  for (const ParsedEdge& edge : net_.edges) {
    const auto from = layers_.find(edge.from_layer);
    const auto to = layers_.find(edge.to_layer);
    if (from == layers_.end() || to == layers_.end() ||
        net_.layers[from->second].type == "Result" ||
        find_port(net_.layers[from->second].outputs, edge.from_port) == nullptr ||
        find_port(net_.layers[to->second].inputs, edge.to_port) == nullptr) {
      return error(
          StatusCode::ParseError,
          "the edge from layer {}, port {} to layer {}, port {} has an end that is no port "
          "of the file, or starts at a Result",
          edge.from_layer, edge.from_port, edge.to_layer, edge.to_port);
    }
    if (!sources_.emplace(PortKey(to->second, edge.to_port), PortKey(from->second, edge.from_port))
             .second) {
      return error(StatusCode::ParseError, "port {} of {} is fed by two edges", edge.to_port,
                   describe(net_.layers[to->second]));
    }
  }
  return {};
}

// 3. Layers in topological order, in the order of the file where the graph leaves a choice.
Status GraphBuilder::sort_layers() {
  const size_t count = net_.layers.size();
  std::vector<size_t> waiting(count, 0);
  std::vector<std::vector<size_t>> readers(count);
  for (const auto& [to, from] : sources_) {
    ++waiting[to.first];
    readers[from.first].push_back(to.first);
  }
  order_ = file_order(readers, waiting);
  if (order_.size() == count) return {};
  size_t i = 0;
  while (waiting[i] == 0) ++i;
  return error(StatusCode::ParseError,
               "the edges make a cycle, {} is on it or behind it: its inputs depend on its outputs",
               describe(net_.layers[i]));
}

// 4. Parameters are inputs, in the order of the file.
Status GraphBuilder::add_inputs() {
  if (plan_ != nullptr) return add_planned_inputs();
  for (size_t i = 0; i < net_.layers.size(); ++i) {
    if (net_.layers[i].type != "Parameter") continue;
    const Status status = add_parameter(i);
    if (!status.ok()) return status.with_context(describe(net_.layers[i]));
  }
  return {};
}

// 5. Every other layer becomes a constant or nodes.
Status GraphBuilder::add_layers() {
  for (const size_t i : order_) {
    const ParsedLayer& layer = net_.layers[i];
    if (layer.type == "Parameter" || layer.type == "Result") continue;
    const Status status = layer.type == "Const" ? add_constant(i) : add_layer(i);
    if (!status.ok()) return status.with_context(describe(layer));
  }
  return {};
}

// 6. What a Result reads is an output, named like the tensor.
Status GraphBuilder::add_results() {
  if (plan_ != nullptr) return add_planned_results();
  std::set<std::string> names;
  for (size_t i = 0; i < net_.layers.size(); ++i) {
    const ParsedLayer& layer = net_.layers[i];
    if (layer.type != "Result") continue;
    std::string name;
    TensorDesc declared;
    HET_ASSIGN(Value* const value, result_value(i, &name, &declared));
    if (!names.insert(name).second) {
      name = std::string(layer.name);
      if (!names.insert(name).second) name = fmt::format("output_{}", layer.id);
    }
    model_->add_output(std::move(name), value, std::move(declared));
  }
  if (model_->outputs().empty()) {
    return error(StatusCode::ParseError, "the graph has no Result: it computes nothing");
  }
  return {};
}

Result<Value*> GraphBuilder::result_value(size_t index, std::string* name, TensorDesc* declared) {
  const ParsedLayer& layer = net_.layers[index];
  const auto source =
      layer.inputs.size() == 1 ? sources_.find({index, layer.inputs[0].id}) : sources_.end();
  if (source == sources_.end()) {
    return error(StatusCode::ParseError, "{} has {} inputs; it needs one that an edge feeds",
                 describe(layer), layer.inputs.size());
  }
  const ParsedLayer& producer = net_.layers[source->second.first];
  const auto port = std::find_if(
      producer.outputs.begin(), producer.outputs.end(),
      [&](const ParsedPort& candidate) { return candidate.id == source->second.second; });
  const auto place = static_cast<size_t>(port - producer.outputs.begin());
  *name = tensor_name(producer, place);
  const ElementType type = LayerContext(graph_, producer, {}, {}, {}).output_type(place);
  // No dimensions may mean that their number is not known.
  if (declared != nullptr && !port->dims.empty()) *declared = {type, port->dims};
  return values_.at(source->second);
}

Result<TensorDesc> GraphBuilder::parameter_desc(const ParsedLayer& layer) {
  if (layer.outputs.size() != 1) {
    return error(StatusCode::ParseError, "it has {} outputs instead of one", layer.outputs.size());
  }
  LayerContext context(graph_, layer, {}, {}, {});
  if (context.text("element_type", "") == "string") {
    return error(StatusCode::NotSupported,
                 "it takes strings; only models with numeric inputs are supported");
  }
  TensorDesc desc;
  desc.type = context.type("element_type", layer.outputs[0].precision);
  if (!context.refusal().empty()) return error(StatusCode::NotSupported, "{}", context.refusal());
  if (context.has("shape")) {
    HET_ASSIGN(desc.shape, parse_dims(context.text("shape", "")));
  } else {
    desc.shape = layer.outputs[0].dims;
  }
  return desc;
}

Status GraphBuilder::add_parameter(size_t index) {
  const ParsedLayer& layer = net_.layers[index];
  HET_ASSIGN(TensorDesc desc, parameter_desc(layer));
  const std::string name = graph_.unique_value_name(tensor_name(layer, 0));
  values_[{index, layer.outputs[0].id}] = model_->add_input(name, std::move(desc));
  if (depth_ == 0 && !layer.outputs[0].layout.empty()) {
    model_->metadata()["layout/" + name] = std::string(layer.outputs[0].layout);
  }
  return {};
}

Status GraphBuilder::add_constant(size_t index) {
  const ParsedLayer& layer = net_.layers[index];
  if (layer.outputs.size() != 1) {
    return error(StatusCode::ParseError, "it has {} outputs instead of one", layer.outputs.size());
  }
  LayerContext context(graph_, layer, {}, {}, {tensor_name(layer, 0)});
  for (const char* name : {"element_type", "shape", "offset", "size"}) {
    if (!context.has(name)) return error(StatusCode::ParseError, "it has no attribute '{}'", name);
  }
  HET_ASSIGN(const Shape shape, parse_dims(context.text("shape", "")));
  const int64_t offset = context.integer("offset", 0);
  const int64_t size = context.integer("size", 0);
  HET_TRY(context.status());
  if (offset < 0 || size < 0) {
    return error(StatusCode::ParseError, "its offset is {} and its size {}", offset, size);
  }
  Value*& value = values_[{index, layer.outputs[0].id}];
  const std::string type = context.text("element_type", "");
  auto content =
      file_.weights.constant(type, shape, static_cast<size_t>(offset), static_cast<size_t>(size));
  if (!content && content.error().code() == StatusCode::NotSupported) {
    context.finish_refused(content.error().message());
    value = context.outputs()[0];
    return {};
  }
  if (!content) return content.error();
  const bool half = content->type() == ElementType::Float16 && file_.version == 10;
  if (!half) {
    value =
        model_->add_constant(graph_.unique_value_name(tensor_name(layer, 0)), std::move(*content));
    return {};
  }
  // IR 10 says f16 everywhere when the weights are stored so; what is meant is float32 computation.
  Value* const stored = model_->add_constant(
      graph_.unique_value_name(fmt::format("{}/f16", layer.name)), std::move(*content));
  value = context.cast(stored, ElementType::Float32);
  return {};
}

Status GraphBuilder::add_layer(size_t index) {
  const ParsedLayer& layer = net_.layers[index];
  std::vector<Value*> inputs;
  std::vector<const ParsedPort*> sources;
  for (const ParsedPort& port : layer.inputs) {
    const auto source = sources_.find({index, port.id});
    if (source == sources_.end()) {
      inputs.push_back(nullptr);
      sources.push_back(nullptr);
      continue;
    }
    const auto [from, from_port] = source->second;
    inputs.push_back(values_.at(source->second));
    sources.push_back(find_port(net_.layers[from].outputs, from_port));
  }
  while (!inputs.empty() && inputs.back() == nullptr) {
    inputs.pop_back();
    sources.pop_back();
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < layer.outputs.size(); ++i) names.push_back(tensor_name(layer, i));
  LayerContext context(graph_, layer, std::move(inputs), std::move(sources), std::move(names));
  translate(context);
  HET_TRY(context.status());
  const auto& outputs = context.outputs();
  const bool complete = std::find(outputs.begin(), outputs.end(), nullptr) == outputs.end();
  if (!context.refusal().empty() || !complete) {
    context.finish_refused(context.refusal().empty()
                               ? fmt::format("it has {} outputs, {} of {} has fewer",
                                             outputs.size(), layer.type, layer.opset)
                               : context.refusal());
  }
  for (size_t i = 0; i < layer.outputs.size(); ++i) {
    values_[{index, layer.outputs[i].id}] = context.outputs()[i];
  }
  return {};
}

/// The first of the port's tensor names in alphabetical order, as OpenVINO's get_any_name(). Layers
/// of IR 10 are tensor names, too. Without any, the layer's name, with ".1" for output 1 of
/// several.
std::string GraphBuilder::tensor_name(const ParsedLayer& layer, size_t output) const {
  std::vector<std::string> names = split_names(layer.outputs[output].names);
  std::string own = layer.outputs.size() == 1 ? std::string(layer.name)
                                              : fmt::format("{}.{}", layer.name, output);
  if (names.empty() || file_.version == 10) names.push_back(std::move(own));
  return *std::min_element(names.begin(), names.end());
}

std::string GraphBuilder::describe(const ParsedLayer& layer) const {
  return fmt::format("layer {} '{}' ({})", layer.id, layer.name.substr(0, 200), layer.type);
}

}  // namespace het::ir
