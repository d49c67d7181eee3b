#include "inference/passes/infer_shapes.h"

#include "inference/ops/op.h"
#include "inference/passes/fold_budget.h"
#include "inference/passes/fold_constants.h"

namespace het {
namespace {

/// Descriptions of the inputs; empty when one of them is not static.
bool collect_inputs(const Node& node, std::vector<const TensorDesc*>& descs,
                    std::vector<const Tensor*>& contents) {
  for (const Value* input : node.inputs()) {
    if (input && !input->desc().is_static()) return false;
    descs.push_back(input ? &input->desc() : nullptr);
    contents.push_back(input && input->is_constant() ? &input->constant() : nullptr);
  }
  return true;
}

Status infer_one(Model& model, Node& node) {
  if (node.op() == nullptr) {
    return error(StatusCode::NotSupported, "node '{}' ({}): {}", node.name(), node.qualified_type(),
                 node.unsupported_reason());
  }
  HET_ASSIGN(const bool folded, fold_node(model, node));
  if (folded) return {};
  std::vector<const TensorDesc*> descs;
  std::vector<const Tensor*> contents;
  if (!collect_inputs(node, descs, contents)) return {};
  HET_ASSIGN(const std::vector<TensorDesc> outputs, infer_node(node, descs, contents));
  for (size_t i = 0; i < outputs.size(); ++i) model.set_desc(node.output(i), outputs[i]);
  // Devices plan for tensors with elements.
  HET_TRY(fold_empty_outputs(model, node));
  return {};
}

}  // namespace

Status infer_shapes(Model& model, std::vector<NodeFailure>* failures) {
  HET_TRY(model.sort());
  const FoldBudget budget(model);
  // Folding adds no node, so the list can be walked while it happens.
  for (const auto& node : model.nodes()) {
    Status status = infer_one(model, *node);
    if (status.ok()) continue;
    if (failures == nullptr) {
      return status.with_context(fmt::format("model '{}'", model.name()));
    }
    failures->push_back({node.get(), std::move(status)});
  }
  return {};
}

}  // namespace het
