/// Functions of HetModel: what a model has, and affinities.

#include <algorithm>
#include <iterator>

#include "hetinference/arguments.h"
#include "hetinference/handles.h"
#include "hetinference/ports.h"
#include "hetinference/sized_struct.h"
#include "inference/model/node_names.h"
#include "inference/model/port_texts.h"
#include "inference/tensors/custom_type_numbers.h"

using namespace het;
using namespace het::c_interface;

namespace {

Result<Node*> node_at(const HetModel* model, size_t index) {
  HET_TRY(not_null(model, "model"));
  const auto& nodes = model->model->nodes();
  if (index >= nodes.size()) {
    return error(StatusCode::NotFound, "there is no node {} of {}", index, nodes.size());
  }
  return nodes[index].get();
}

Status write_value(const Model& model, const Value* value, HetValue* out) {
  HET_TRY(check_size(out, "value"));
  HetValue result{};
  result.name = "";
  if (value != nullptr) {
    result.kind = value->producer() != nullptr ? HET_VALUE_NODE
                  : value->is_constant()       ? HET_VALUE_CONSTANT
                                               : HET_VALUE_INPUT;
    result.type = custom_type_number(value->desc().type);
    result.name = value->name().c_str();
    result.rank = static_cast<uint32_t>(value->desc().shape.size());
    result.shape = value->desc().shape.data();
  }
  if (result.kind == HET_VALUE_NODE) {
    const auto is_producer = [&](const auto& node) { return node.get() == value->producer(); };
    result.node = std::ranges::find_if(model.nodes(), is_producer) - model.nodes().begin();
    result.output = static_cast<uint32_t>(value->producer_output());
  }
  write_struct(result, out);
  return {};
}

Status write_value_of(const HetModel* model, const std::vector<Value*>& values, size_t index,
                      const std::string& node, const char* kind, HetValue* out) {
  if (index >= values.size()) {
    return error(StatusCode::NotFound, "there is no {} {} of node '{}', which has {}", kind, index,
                 node, values.size());
  }
  return write_value(*model->model, values[index], out);
}

}  // namespace

void het_model_release(HetModel* model) {
  delete model;
}

HetStatus het_model_reshape(HetModel* model, const char* shapes) {
  return call("het_model_reshape", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    HET_TRY(not_null(shapes, "shapes"));
    return reshape(*model->model, shapes);
  });
}

HetStatus het_model_port_counts(const HetModel* model, size_t* inputs, size_t* outputs) {
  if (inputs) *inputs = 0;
  if (outputs) *outputs = 0;
  return call("het_model_port_counts", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    HET_TRY(not_null(inputs, "inputs"));
    HET_TRY(not_null(outputs, "outputs"));
    *inputs = model->model->inputs().size();
    *outputs = model->model->outputs().size();
    return {};
  });
}

HetStatus het_model_input(const HetModel* model, size_t index, HetPort* port) {
  return call("het_model_input", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    const auto& inputs = model->model->inputs();
    if (index >= inputs.size()) {
      return error(StatusCode::NotFound, "there is no input {}; the model has {}", index,
                   inputs.size());
    }
    return write_port(inputs[index].value->name(), inputs[index].value->desc(), port);
  });
}

HetStatus het_model_output(const HetModel* model, size_t index, HetPort* port) {
  return call("het_model_output", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    const auto& outputs = model->model->outputs();
    if (index >= outputs.size()) {
      return error(StatusCode::NotFound, "there is no output {}; the model has {}", index,
                   outputs.size());
    }
    return write_port(outputs[index].name, outputs[index].value->desc(), port);
  });
}

HetStatus het_model_node_count(const HetModel* model, size_t* nodes) {
  if (nodes) *nodes = 0;
  return call("het_model_node_count", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    HET_TRY(not_null(nodes, "nodes"));
    *nodes = model->model->nodes().size();
    return {};
  });
}

HetStatus het_model_node(const HetModel* model, size_t index, HetNode* node) {
  return call("het_model_node", [&]() -> Status {
    HET_ASSIGN(const Node* const from, node_at(model, index));
    HET_TRY(check_size(node, "node"));
    HetNode result{};
    result.name = from->name().c_str();
    result.type = from->op_type().c_str();
    result.domain = from->domain().c_str();
    result.affinity = from->affinity().c_str();
    result.input_count = static_cast<uint32_t>(from->inputs().size());
    result.output_count = static_cast<uint32_t>(from->outputs().size());
    result.rt_info_count = static_cast<uint32_t>(from->rt_info().size());
    write_struct(result, node);
    return {};
  });
}

HetStatus het_model_find_node(const HetModel* model, const char* name, size_t* index) {
  if (index) *index = 0;
  return call("het_model_find_node", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    HET_TRY(not_null(name, "name"));
    HET_TRY(not_null(index, "index"));
    const auto& nodes = model->model->nodes();
    const auto found =
        std::ranges::find_if(nodes, [&](const auto& node) { return node->name() == name; });
    if (found == nodes.end()) {
      return error(StatusCode::NotFound, "model '{}' has no node '{}'{}", model->model->name(),
                   name, NodesByName(*model->model).nearest(name));
    }
    *index = static_cast<size_t>(found - nodes.begin());
    return {};
  });
}

HetStatus het_model_node_input(const HetModel* model, size_t node, size_t index, HetValue* value) {
  return call("het_model_node_input", [&]() -> Status {
    HET_ASSIGN(const Node* const from, node_at(model, node));
    return write_value_of(model, from->inputs(), index, from->name(), "input", value);
  });
}

HetStatus het_model_node_output(const HetModel* model, size_t node, size_t index, HetValue* value) {
  return call("het_model_node_output", [&]() -> Status {
    HET_ASSIGN(const Node* const from, node_at(model, node));
    return write_value_of(model, from->outputs(), index, from->name(), "output", value);
  });
}

HetStatus het_model_node_rt_info(const HetModel* model, size_t node, size_t index, HetPair* pair) {
  return call("het_model_node_rt_info", [&]() -> Status {
    HET_ASSIGN(const Node* const from, node_at(model, node));
    HET_TRY(check_size(pair, "pair"));
    if (index >= from->rt_info().size()) {
      return error(StatusCode::NotFound, "there is no rt_info {} of node '{}', which has {}", index,
                   from->name(), from->rt_info().size());
    }
    const auto found = std::next(from->rt_info().begin(), static_cast<ptrdiff_t>(index));
    HetPair result{};
    result.name = found->first.c_str();
    result.value = found->second.c_str();
    write_struct(result, pair);
    return {};
  });
}

HetStatus het_model_set_node_rt_info(HetModel* model, size_t node, const char* key,
                                     const char* value) {
  return call("het_model_set_node_rt_info", [&]() -> Status {
    HET_ASSIGN(Node* const changed, node_at(model, node));
    HET_TRY(not_null(key, "key"));
    HET_TRY(not_null(value, "value"));
    if (*key == '\0') return error(StatusCode::InvalidArgument, "the key is empty");
    changed->set_rt_info(key, value);
    return {};
  });
}

HetStatus het_model_set_affinities(HetModel* model, const HetPair* pairs, size_t count) {
  return call("het_model_set_affinities", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    HET_ASSIGN(const Properties devices, to_properties(pairs, count));
    return set_affinities(*model->model, {devices.begin(), devices.end()});
  });
}
