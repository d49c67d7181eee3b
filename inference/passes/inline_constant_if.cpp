#include "inference/passes/inline_constant_if.h"

#include <unordered_map>

#include "inference/ops/sequences/body.h"

namespace het {
namespace {

/// Bytes of names that one call may make: a long name of an If comes back in every name inside it.
constexpr size_t kMaxNameBytes = size_t{8} << 20;

/// What naming the parts of a branch after its If takes.
size_t name_bytes(const Node& node, const Model& branch) {
  size_t bytes = node.name().size();
  for (const std::string& name : node.original_names()) bytes += name.size();
  return bytes * (branch.nodes().size() + branch.values().size());
}

/// A sorted copy of the branch that a constant condition takes; null when this is no such If.
std::unique_ptr<Model> taken_branch(const Node& node) {
  if (node.op_type() != "If" || !node.domain().empty() || node.op() == nullptr) return nullptr;
  const Value* cond = node.input(0);
  if (cond == nullptr || !cond->is_constant()) return nullptr;
  const auto taken = read_condition(cond->constant(), "cond");
  if (!taken) return nullptr;
  const std::string_view name = *taken ? "then_branch" : "else_branch";
  if (!check_body(node, name, 0).ok()) return nullptr;
  std::unique_ptr<Model> branch = body_of(node, name).clone();
  if (branch->outputs().size() < node.outputs().size() || !branch->sort().ok()) return nullptr;
  return branch;
}

void inline_branch(Model& model, const Node& node, const Model& branch) {
  const std::vector<std::string> captures = node.attributes().get_strings(kCapturesAttribute);
  const size_t first = node.inputs().size() - captures.size();
  std::unordered_map<const Value*, Value*> values;
  for (size_t i = 0; i < captures.size(); ++i) {
    const Value* inside = branch.find_value(captures[i]);
    if (inside != nullptr && inside->is_input()) values[inside] = node.input(first + i);
  }
  for (const auto& value : branch.values()) {
    if (!value->is_constant()) continue;
    values[value.get()] =
        model.add_constant(fmt::format("{}/{}", node.name(), value->name()), value->constant());
  }
  for (const auto& inner : branch.nodes()) {
    std::vector<Value*> inputs;
    for (const Value* input : inner->inputs()) {
      inputs.push_back(input ? values.at(input) : nullptr);
    }
    std::vector<std::string> names;
    for (const Value* output : inner->outputs()) {
      names.push_back(fmt::format("{}/{}", node.name(), output->name()));
    }
    Node* added =
        model.add_node(fmt::format("{}/{}", node.name(), inner->name()), inner->op_type(),
                       inner->domain(), std::move(inputs), std::move(names), inner->attributes());
    if (inner->op() == nullptr) model.mark_unsupported(added, inner->unsupported_reason());
    added->set_affinity(node.affinity());
    added->add_original_names(node.original_names());
    for (size_t i = 0; i < inner->outputs().size(); ++i) {
      values[inner->outputs()[i]] = added->outputs()[i];
    }
  }
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    model.replace_uses(node.output(i), values.at(branch.outputs()[i].value));
  }
}

}  // namespace

size_t inline_constant_if(Model& model) {
  size_t inlined = 0;
  size_t bytes = 0;
  const size_t count = model.nodes().size();  // nodes are added while the list is walked
  for (size_t i = 0; i < count; ++i) {
    const Node& node = *model.nodes()[i];
    const std::unique_ptr<Model> branch = taken_branch(node);
    if (branch == nullptr) continue;
    const size_t made = name_bytes(node, *branch);
    if (bytes + made > kMaxNameBytes) continue;
    bytes += made;
    inline_branch(model, node, *branch);
    ++inlined;
  }
  if (inlined > 0) model.remove_unused();
  return inlined;
}

}  // namespace het
