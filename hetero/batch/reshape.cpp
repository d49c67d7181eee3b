#include "hetero/batch/reshape.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "hetero/batch/constant_items.h"
#include "inference/passes/infer_shapes.h"
#include "inference/passes/inline_constant_if.h"
#include "inference/passes/prepare_model.h"

namespace het::hetero {
namespace {

/// Ifs of longer chains stay, and a batch of theirs is refused.
constexpr int kMaxInlineRounds = 32;

Status check_input(const ModelInput& input) {
  const TensorDesc& desc = input.value->desc();
  if (desc.shape.empty() || desc.shape[0] != 1) {
    return error(StatusCode::NotSupported,
                 "input '{}' {} has no batch dimension: dimension 0 has to be 1 (BATCH_SIZE and "
                 "INPUT_SHAPES change it)",
                 input.value->name(), to_string(desc));
  }
  if (input.preprocess && desc.shape.size() != 4) {
    return error(StatusCode::NotSupported,
                 "input '{}' {} takes pictures, but has not the four dimensions of a batch of them",
                 input.value->name(), to_string(desc));
  }
  return {};
}

/// The models of one item and of a batch, with the shapes that devices infer, but with all nodes:
/// what is an identity for one item may be none for a batch.
struct ShapedPair {
  std::unique_ptr<Model> single;
  std::unique_ptr<Model> batched;
};

/// Shapes, and the nodes that cannot run where an output depends on them.
Status infer_needed(Model& model) {
  std::vector<NodeFailure> failures;
  HET_TRY(infer_shapes(model, &failures));
  model.remove_unused();
  for (const NodeFailure& failure : failures) {
    const bool is_left = std::ranges::any_of(
        model.nodes(), [&](const auto& node) { return node.get() == failure.node; });
    if (is_left) return failure.status;
  }
  return {};
}

/// A branch that only a batch takes is another model.
Status check_branches(const Model& single, const Model& batched) {
  for (const auto& node : batched.nodes()) {
    const Value* const many = node->op_type() == "If" ? node->input(0) : nullptr;
    const Value* const one = many ? single.find_value(many->name()) : nullptr;
    if (many == nullptr || !many->is_constant()) continue;
    if (one != nullptr && one->is_constant() &&
        constant_items(many->constant(), &one->constant(), 2).is_shared()) {
      continue;
    }
    return error(StatusCode::NotSupported,
                 "node '{}' ({}) takes another branch for a batch than for one item", node->name(),
                 node->qualified_type());
  }
  return {};
}

Result<ShapedPair> with_shapes(const Model& model, const Model& reshaped, size_t batch) {
  ShapedPair pair{model.clone(), reshaped.clone()};
  HET_TRY(check_inputs_static(*pair.single));
  pair.single->remove_unused();
  pair.batched->remove_unused();
  for (int round = 0; round <= kMaxInlineRounds; ++round) {
    HET_TRY(infer_needed(*pair.single));
    if (Status status = infer_needed(*pair.batched); !status.ok()) {
      // Whatever inference calls it: the model is right, but not for a batch.
      return error(StatusCode::NotSupported, "with {} at the inputs: {}", batch, status.message());
    }
    HET_TRY(check_branches(*pair.single, *pair.batched));
    if (inline_constant_if(*pair.single) + inline_constant_if(*pair.batched) == 0) break;
  }
  return pair;
}

/// A batch of one is taken as it is.
Result<std::vector<OutputCut>> whole_outputs(const Model& model) {
  for (const ModelOutput& output : model.outputs()) {
    const TensorDesc& desc = output.value->desc();
    if (desc.is_static() && !desc.shape.empty() && desc.shape[0] == 1) continue;
    return error(StatusCode::NotSupported, "output '{}' {} has no dimension 0 of 1", output.name,
                 to_string(desc));
  }
  return std::vector<OutputCut>(model.outputs().size());
}

}  // namespace

Result<BatchedModel> reshape_to_batch(const Model& model, size_t batch) {
  std::unique_ptr<Model> copy = model.clone();
  std::map<std::string, Shape> shapes;
  for (const ModelInput& input : model.inputs()) {
    HET_TRY(check_input(input));
    Shape shape = input.value->desc().shape;
    shape[0] = static_cast<int64_t>(batch);
    shapes[input.value->name()] = std::move(shape);
  }
  HET_TRY(copy->reshape(shapes));
  HET_ASSIGN(const ShapedPair pair, with_shapes(model, *copy, batch));
  HET_ASSIGN(
      std::vector<OutputCut> outputs,
      batch == 1 ? whole_outputs(*pair.single) : follow_items(*pair.single, *pair.batched, batch));
  return BatchedModel{std::move(copy), std::move(outputs)};
}

}  // namespace het::hetero
