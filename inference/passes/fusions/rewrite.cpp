#include "inference/passes/fusions/rewrite.h"

#include <algorithm>

namespace het {

Status run_rewrites(Model& model, std::initializer_list<Rewrite> rewrites) {
  for (const Rewrite rewrite : rewrites) {
    HET_TRY(rewrite(model));
    model.remove_unused();
    HET_TRY(model.sort());
  }
  return {};
}

Node* only_reader(const Model& model, const Value& value) {
  if (value.consumers().size() != 1) return nullptr;
  const auto& outputs = model.outputs();
  const bool is_output = std::any_of(outputs.begin(), outputs.end(),
                                     [&](const ModelOutput& o) { return o.value == &value; });
  return is_output ? nullptr : value.consumers()[0];
}

void detach(Model& model, Node& node) {
  for (size_t i = 0; i < node.inputs().size(); ++i) model.set_input(&node, i, nullptr);
}

bool is_detached(const Node& node) {
  return !node.inputs().empty() && std::all_of(node.inputs().begin(), node.inputs().end(),
                                               [](const Value* v) { return v == nullptr; });
}

bool is_read(const Model& model, const Value& value) {
  return !value.consumers().empty() ||
         std::ranges::any_of(model.outputs(),
                             [&](const ModelOutput& output) { return output.value == &value; });
}

bool is_op(const Node* node, std::string_view type) {
  return node != nullptr && node->domain().empty() && node->op_type() == type &&
         !is_detached(*node);
}

Node* replace(Model& model, Replacement replacement) {
  return replace_if(model, nullptr, std::move(replacement));
}

Node* replace_if(Model& model, bool (*can_run)(const Node& node), Replacement replacement) {
  Node& first = *replacement.first;
  Node& last = *replacement.last;
  Value* old_output = last.output();
  Node* made = model.add_node(first.name(), std::move(replacement.op_type),
                              std::move(replacement.domain), std::move(replacement.inputs),
                              {old_output->name()}, std::move(replacement.attributes));
  model.set_desc(made->output(), old_output->desc());
  if (can_run != nullptr && !can_run(*made)) {
    detach(model, *made);
    return nullptr;
  }
  made->set_affinity(first.affinity());
  made->add_original_names(first.original_names());
  made->add_original_names(last.original_names());
  model.replace_uses(old_output, made->output());
  detach(model, first);
  detach(model, last);
  return made;
}

}  // namespace het
