#include "inference/passes/prepare_model.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "inference/passes/fold_budget.h"
#include "inference/passes/inline_constant_if.h"
#include "inference/passes/remove_identities.h"

namespace het {
namespace {

/// Conditions that only become known behind another If that was inlined take a round each; Ifs of
/// longer chains stay and run as they are.
constexpr int kMaxInlineRounds = 32;

/// The passes themselves; nodes that cannot run are listed.
Result<std::vector<NodeFailure>> run_passes(Model& model) {
  const FoldBudget budget(model);
  remove_identities(model);
  model.remove_unused();
  std::vector<NodeFailure> failures;
  HET_TRY(infer_shapes(model, &failures));
  for (int round = 0; round < kMaxInlineRounds && inline_constant_if(model) > 0; ++round) {
    remove_identities(model);
    failures.clear();
    HET_TRY(infer_shapes(model, &failures));
  }
  std::unordered_set<const Node*> failed;
  for (const NodeFailure& failure : failures) failed.insert(failure.node);
  // Nodes that folding left behind go, and with them failures that no output depends on.
  remove_identities(model);
  model.remove_unused();
  std::unordered_set<const Node*> left;
  for (const auto& node : model.nodes()) left.insert(node.get());
  std::erase_if(failures, [&](const NodeFailure& f) { return !left.contains(f.node); });
  return failures;
}

}  // namespace

Status check_inputs_static(const Model& model) {
  for (const ModelInput& input : model.inputs()) {
    const TensorDesc& desc = input.value->desc();
    for (size_t i = 0; i < desc.shape.size(); ++i) {
      if (desc.shape[i] != kUnknownDim) continue;
      return error(StatusCode::InvalidArgument,
                   "dimension {} of input '{}' {} of model '{}' is not bound: use reshape to give "
                   "it a size",
                   i, input.value->name(), to_string(desc), model.name());
    }
  }
  return {};
}

bool reads_unknown_sizes(const Node& node) {
  return std::ranges::any_of(node.inputs(), [](const Value* input) {
    return input != nullptr && !input->desc().is_static();
  });
}

Status prepare_model(Model& model) {
  HET_TRY(check_inputs_static(model));
  HET_ASSIGN(const std::vector<NodeFailure> failures, run_passes(model));
  if (failures.empty()) return {};
  if (failures.size() == 1) return failures[0].status;
  std::string list;
  StatusCode code = StatusCode::NotSupported;
  for (const NodeFailure& failure : failures) {
    list += "\n  " + failure.status.message();
    // A model that is wrong stays wrong where more is supported.
    if (failure.status.code() != StatusCode::NotSupported) code = failure.status.code();
  }
  return error(code, "{} nodes cannot run:{}", failures.size(), list);
}

Result<std::vector<NodeFailure>> prepare_model_for_query(Model& model) {
  return run_passes(model);
}

std::vector<NodeSupport> query_rows(const Model& original, const Model& prepared,
                                    const std::vector<NodeFailure>& failures,
                                    std::string_view device,
                                    const std::function<std::string(const Node&)>& refuse) {
  std::unordered_map<const Node*, std::string> reasons;
  for (const NodeFailure& failure : failures) reasons[failure.node] = failure.status.message();
  std::unordered_map<std::string_view, const Node*> stand_ins;
  for (const auto& node : prepared.nodes()) {
    const auto [reason, is_new] = reasons.try_emplace(node.get());
    if (is_new) reason->second = refuse(*node);
    // Where several nodes stand for one, the one that is refused speaks.
    for (const std::string& name : node->original_names()) {
      const Node*& stand_in = stand_ins[name];
      if (stand_in == nullptr || reasons.at(stand_in).empty()) stand_in = node.get();
    }
  }
  const bool is_bound = check_inputs_static(prepared).ok();
  std::vector<NodeSupport> rows;
  rows.reserve(original.nodes().size());
  for (const auto& node : original.nodes()) {
    NodeSupport row{node->name(), node->qualified_type(), std::string(device), {}};
    const auto stand_in = stand_ins.find(node->name());
    if (stand_in == stand_ins.end()) {
      row.reason = "folded or removed when compiled";
    } else if (const std::string& reason = reasons.at(stand_in->second); !reason.empty()) {
      row.device.clear();
      row.reason = reason;
    } else if (!is_bound && reads_unknown_sizes(*stand_in->second)) {
      row.reason = kUnknownSizes;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace het
