#include <algorithm>
#include <iterator>
#include <string_view>

#include "inference/ops/op.h"
#include "inference/passes/fusions/passes.h"

namespace het {
namespace {

/// Dequantisation, and what only moves its result.
constexpr std::string_view kFolded[] = {"DequantizeLinear", "Reshape", "Transpose"};

}  // namespace

Status fold_dequantized_constants(Model& model) {
  for (const auto& node : model.nodes()) {
    if (std::ranges::find(kFolded, node->op_type()) == std::end(kFolded) || node->op() == nullptr)
      continue;
    std::vector<const Tensor*> inputs;
    bool constant = true;
    for (const Value* input : node->inputs()) {
      constant = constant && (input == nullptr || input->is_constant());
      inputs.push_back(input != nullptr && input->is_constant() ? &input->constant() : nullptr);
    }
    if (!constant) continue;
    HET_ASSIGN(std::vector<Tensor> results, evaluate_node(*node, inputs));
    model.make_constant(node->output(), std::move(results[0]));
  }
  return {};
}

}  // namespace het
