#include "hetero/batch/reshape.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

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

/// A copy whose shapes are inferred as devices do it, but with all its nodes: what is an identity
/// for one item may be none for a batch.
Result<std::unique_ptr<Model>> with_shapes(const Model& model) {
  std::unique_ptr<Model> copy = model.clone();
  HET_TRY(check_inputs_static(*copy));
  copy->remove_unused();
  std::vector<NodeFailure> failures;
  HET_TRY(infer_shapes(*copy, &failures));
  for (int round = 0; round < kMaxInlineRounds && inline_constant_if(*copy) > 0; ++round) {
    failures.clear();
    HET_TRY(infer_shapes(*copy, &failures));
  }
  copy->remove_unused();
  for (const NodeFailure& failure : failures) {
    const bool is_left = std::ranges::any_of(
        copy->nodes(), [&](const auto& node) { return node.get() == failure.node; });
    if (is_left) return Failure(failure.status);
  }
  return copy;
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
  HET_ASSIGN(const std::unique_ptr<Model> single, with_shapes(model));
  if (batch == 1) {
    HET_ASSIGN(std::vector<OutputCut> outputs, whole_outputs(*single));
    return BatchedModel{std::move(copy), std::move(outputs)};
  }
  auto batched = with_shapes(*copy);
  if (!batched) {
    return Failure(batched.error().with_context(fmt::format("with {} at the inputs", batch)));
  }
  HET_ASSIGN(std::vector<OutputCut> outputs, follow_items(*single, **batched, batch));
  return BatchedModel{std::move(copy), std::move(outputs)};
}

}  // namespace het::hetero
