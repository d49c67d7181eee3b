#include "tools/stub.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "inference/base/edit_distance.h"
#include "inference/passes/infer_shapes.h"
#include "inference/tensors/element_type.h"

namespace het {
namespace {

bool is_named(const Node& node, std::string_view word) {
  return node.name() == word || node.op_type() == word || node.qualified_type() == word ||
         std::ranges::find(node.original_names(), word) != node.original_names().end();
}

bool fits_any(const Model& model, std::string_view word) {
  return std::ranges::any_of(model.nodes(), [&](const auto& n) { return is_named(*n, word); });
}

Failure fits_nothing(const Model& model, std::string_view word) {
  std::set<std::string> names;
  for (const auto& node : model.nodes()) {
    names.insert(node->name());
    names.insert(node->op_type());
  }
  std::string list;
  for (const std::string_view name : nearest_names({names.begin(), names.end()}, word)) {
    list += fmt::format("{} '{}'", list.empty() ? "" : ",", name);
  }
  return error(StatusCode::NotFound,
               "--stub '{}' is no node and no operator type of model '{}'; the nearest names are{}",
               word, model.name(), list);
}

/// The words of a text; the whole text where that is a name.
std::vector<std::string> words_of(const Model& model, const std::string& text) {
  if (model.find_node(text) != nullptr) return {text};
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

/// The one input that is computed or given; null where there are several.
Value* only_variable_input(const Node& node) {
  Value* only = nullptr;
  for (Value* input : node.inputs()) {
    if (input == nullptr || input->is_constant()) continue;
    if (only != nullptr) return nullptr;
    only = input;
  }
  return only;
}

Status check_replaceable(const Node& node) {
  if (node.op() == nullptr) {
    return error(StatusCode::NotSupported,
                 "--stub: no operator says what the outputs of node '{}' ({}) are: {}; -extensions "
                 "may bring one",
                 node.name(), node.qualified_type(), node.unsupported_reason());
  }
  if (node.domain() == "het" && (node.op_type() == "ReadValue" || node.op_type() == "Assign")) {
    return error(StatusCode::NotSupported, "--stub: node '{}' ({}) keeps state between requests",
                 node.name(), node.qualified_type());
  }
  for (const Value* output : node.outputs()) {
    if (output == nullptr || output->desc().is_static()) continue;
    return error(StatusCode::NotSupported,
                 "--stub: output '{}' of node '{}' ({}) is {}; nothing can stand for what is sized "
                 "at run time",
                 output->name(), node.name(), node.qualified_type(), to_string(output->desc()));
  }
  return {};
}

void put_stub(Model& model, Node& node) {
  std::vector<std::string> types;
  std::vector<int64_t> ranks;
  std::vector<int64_t> dims;
  std::vector<std::string> names;
  for (const Value* output : node.outputs()) {
    const TensorDesc& desc = output->desc();
    types.emplace_back(to_string(desc.type));
    ranks.push_back(static_cast<int64_t>(desc.shape.size()));
    dims.insert(dims.end(), desc.shape.begin(), desc.shape.end());
    names.push_back(output->name() + "/stub");
  }
  Attributes attributes;
  attributes.set("output_types", std::move(types));
  attributes.set("output_ranks", std::move(ranks));
  attributes.set("output_dims", std::move(dims));
  std::vector<Value*> inputs;
  for (Value* input : node.inputs()) {
    if (input != nullptr && !input->is_constant()) inputs.push_back(input);
  }
  Node* stub = model.add_node(node.name() + "/stub", "Stub", "het", std::move(inputs),
                              std::move(names), std::move(attributes));
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    model.set_desc(stub->output(i), node.output(i)->desc());
    model.replace_uses(node.output(i), stub->output(i));
  }
}

}  // namespace

Result<std::vector<const Node*>> find_stubs(const Model& model,
                                            const std::vector<std::string>& texts) {
  std::set<const Node*> chosen;
  for (const std::string& text : texts) {
    for (const std::string& word : words_of(model, text)) {
      if (!fits_any(model, word)) return fits_nothing(model, word);
      for (const auto& node : model.nodes()) {
        if (is_named(*node, word)) chosen.insert(node.get());
      }
    }
  }
  std::vector<const Node*> ordered;
  for (const auto& node : model.nodes()) {
    if (chosen.contains(node.get())) ordered.push_back(node.get());
  }
  return ordered;
}

Result<std::unique_ptr<Model>> with_stubs(const Model& model,
                                          const std::vector<const Node*>& nodes) {
  std::unique_ptr<Model> copy = model.clone();
  std::vector<NodeFailure> failures;
  HET_TRY(infer_shapes(*copy, &failures));
  for (const Node* chosen : nodes) {
    Node* node = copy->find_node(chosen->name());
    if (node == nullptr) continue;  // a constant by now
    HET_TRY(check_replaceable(*node));
    Value* input = only_variable_input(*node);
    if (input != nullptr && node->outputs().size() == 1 &&
        input->desc() == node->output()->desc()) {
      copy->replace_uses(node->output(), input);
    } else {
      put_stub(*copy, *node);
    }
    copy->remove_node(node);
  }
  HET_TRY(copy->sort());
  return copy;
}

}  // namespace het
