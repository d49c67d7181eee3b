#include "inference/passes/expose_state.h"

#include <algorithm>

#include "inference/passes/infer_shapes.h"
#include "inference/passes/prepare_model.h"

namespace het {
namespace {

/// Each one is looked for among all nodes. Models with state have a few hundred.
constexpr size_t kMaxStateNodes = 4'096;

bool is_state_node(const Node& node, std::string_view op_type) {
  return node.domain() == "het" && node.op_type() == op_type;
}

std::string variable_of(const Node& node) {
  return node.attributes().get_string("variable_id", "");
}

/// Of the first input of the ReadValue with this name in a copy of the model; undefined when the
/// copy has lost it.
TensorDesc first_value_desc(const Model& model, const std::string& name) {
  const auto same = std::ranges::find_if(model.nodes(), [&](const auto& node) {
    return node->name() == name && is_state_node(*node, "ReadValue");
  });
  if (same == model.nodes().end() || (*same)->input(0) == nullptr) return {};
  return (*same)->input(0)->desc();
}

/// The description of what a ReadValue gives: its attributes, else that of its first value.
Result<TensorDesc> variable_desc(const Node& node, const Model& model, const Model& prepared) {
  TensorDesc desc;
  const std::string type = node.attributes().get_string("variable_type", "");
  if (!type.empty()) {
    HET_ASSIGN(desc.type, parse_element_type(type));
    desc.shape = node.attributes().get_ints("variable_shape");
  } else {
    desc = first_value_desc(prepared, node.name());
    if (desc.type == ElementType::Undefined) {
      // Where nothing is read that has elements, preparation leaves no node.
      const std::unique_ptr<Model> inferred = model.clone();
      std::vector<NodeFailure> failures;  // told when the model is compiled
      HET_TRY(infer_shapes(*inferred, &failures));
      desc = first_value_desc(*inferred, node.name());
    }
  }
  if (desc.type != ElementType::Undefined) return desc;
  return error(StatusCode::ParseError,
               "node '{}' (het.ReadValue): the type of variable '{}' is neither given by "
               "variable_type nor does it follow from the node's input",
               node.name(), variable_of(node));
}

std::vector<Node*> nodes_of(const Model& model, std::string_view op_type) {
  std::vector<Node*> nodes;
  for (const auto& node : model.nodes()) {
    if (is_state_node(*node, op_type)) nodes.push_back(node.get());
  }
  return nodes;
}

/// What stands for the value of a ReadValue: the input, or the node's own value while it is unset.
Value* current_value(Model& model, const Node& read, const StatePorts& ports) {
  Value* const value = model.inputs()[ports.value_input].value;
  if (!ports.is_set_input || read.input(0) == nullptr) return value;
  Node* const choice =
      model.add_node(read.name() + "/current", "Where", "",
                     {model.inputs()[*ports.is_set_input].value, value, read.input(0)},
                     {read.output()->name() + "/current"});
  choice->add_original_names(read.original_names());
  return choice->output();
}

}  // namespace

bool has_state(const Model& model) {
  return std::ranges::any_of(model.nodes(), [](const auto& node) {
    return is_state_node(*node, "ReadValue") || is_state_node(*node, "Assign");
  });
}

Result<std::vector<StatePorts>> expose_state(Model& model) {
  const std::unique_ptr<Model> prepared = model.clone();
  HET_TRY(prepare_model_for_query(*prepared));
  std::vector<StatePorts> variables;
  const std::vector<Node*> reads = nodes_of(model, "ReadValue");
  const std::vector<Node*> assigns = nodes_of(model, "Assign");
  if (reads.size() + assigns.size() > kMaxStateNodes) {
    return error(StatusCode::OutOfMemory,
                 "model '{}' reads and assigns variables {} times, the limit is {}", model.name(),
                 reads.size() + assigns.size(), kMaxStateNodes);
  }
  for (Node* read : reads) {
    if (read->output() == nullptr) {
      model.remove_node(read);
      continue;
    }
    const std::string id = variable_of(*read);
    auto known = std::ranges::find(variables, id, &StatePorts::id);
    if (known == variables.end()) {
      StatePorts ports;
      ports.id = id;
      HET_ASSIGN(ports.desc, variable_desc(*read, model, *prepared));
      ports.value_input = model.inputs().size();
      model.add_input("het.state." + id, ports.desc);
      if (read->input(0) != nullptr) {
        ports.is_set_input = model.inputs().size();
        model.add_input("het.state_is_set." + id, {ElementType::Bool, {}});
      }
      variables.push_back(std::move(ports));
      known = variables.end() - 1;
    }
    model.replace_uses(read->output(), current_value(model, *read, *known));
    model.remove_node(read);
  }
  for (Node* assign : assigns) {
    const std::string id = variable_of(*assign);
    Value* const value = assign->input(0);
    if (value == nullptr) {
      return error(StatusCode::ParseError,
                   "node '{}' (het.Assign) has no input: nothing to assign to variable '{}'",
                   assign->name(), id);
    }
    if (assign->output() != nullptr) model.replace_uses(assign->output(), value);
    const std::string name = assign->name();
    model.remove_node(assign);
    const auto known = std::ranges::find(variables, id, &StatePorts::id);
    if (known == variables.end()) continue;  // nobody reads it
    if (known->output)
      return error(StatusCode::ParseError,
                   "node '{}' (het.Assign): variable '{}' is assigned more than once", name, id);
    known->output = model.outputs().size();
    model.add_output("het.state." + id, value);
  }
  return variables;
}

}  // namespace het
