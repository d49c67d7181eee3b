#include "hetero/batch/reshape.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "inference/passes/prepare_model.h"
#include "inference/tensors/tensor.h"

namespace het::hetero {
namespace {

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

/// The desc that a value of the single model must have for a batch; of unknown type when it cannot.
TensorDesc batched_desc(TensorDesc desc, size_t batch) {
  if (!desc.is_static() || desc.shape.empty() || desc.shape[0] != 1) return {};
  desc.shape[0] = static_cast<int64_t>(batch);
  return desc;
}

Status check_outputs(const Model& single, const Model& batched, size_t batch) {
  for (size_t i = 0; i < single.outputs().size(); ++i) {
    const TensorDesc& one = single.outputs()[i].value->desc();
    const TensorDesc& many = batched.outputs()[i].value->desc();
    if (!one.is_static()) {
      return error(StatusCode::NotSupported,
                   "output '{}' is sized at run time, so it cannot be cut into {} parts",
                   single.outputs()[i].name, batch);
    }
    const TensorDesc wanted = batched_desc(one, batch);
    if (wanted.is_static() && many == wanted) continue;
    return error(StatusCode::NotSupported,
                 "output '{}' {} does not grow with the batch: with {} at the inputs it is {}",
                 single.outputs()[i].name, to_string(one), batch, to_string(many));
  }
  return {};
}

/// Values that depend on the content of the model's inputs.
std::unordered_set<const Value*> dependent_values(const Model& model) {
  std::unordered_set<const Value*> dependent;
  for (const ModelInput& input : model.inputs()) dependent.insert(input.value);
  for (const auto& node : model.nodes()) {
    const bool is_dependent = std::ranges::any_of(
        node->inputs(), [&](const Value* value) { return dependent.contains(value); });
    if (!is_dependent) continue;
    for (const Value* output : node->outputs()) {
      if (!output->is_constant()) dependent.insert(output);
    }
  }
  return dependent;
}

/// Operators that mix or reorder along `axis` and whose output has the size of their inputs.
/// Whatever reduces, selects or splits along dimension 0 shows in the sizes.
bool mixes_along_axis(std::string_view type) {
  constexpr std::array kTypes{"Softmax", "LogSoftmax", "Hardmax",
                              "Concat",  "CumSum",     "LpNormalization"};
  return std::ranges::find(kTypes, type) != kTypes.end();
}

/// True when dimension 0 of the node's first input holds the batch and the node works along it.
bool mixes_batch(const Node& node, const Model& single) {
  const Value* const many = node.input(0);
  const Value* const one = many ? single.find_value(many->name()) : nullptr;
  if (one == nullptr || one->desc().shape.size() != many->desc().shape.size() ||
      many->desc().shape.empty() || one->desc().shape[0] == many->desc().shape[0])
    return false;
  const auto rank = static_cast<int64_t>(many->desc().shape.size());
  const auto is_first = [&](int64_t axis) { return axis == 0 || axis == -rank; };
  if (node.op_type() == "MeanVarianceNormalization") {
    const std::vector<int64_t> axes = node.attributes().get_ints("axes", {0, 2, 3});
    return std::ranges::any_of(axes, is_first);
  }
  if (!mixes_along_axis(node.op_type())) return false;
  if (node.op_type() == "CumSum") {
    const Value* const axis = node.input(1);
    if (axis == nullptr || !axis->is_constant()) return true;
    const auto values = to_int64_vector(axis->constant());
    return !values || std::ranges::any_of(*values, is_first);
  }
  return is_first(node.attributes().get_int("axis", node.op_type() == "Concat" ? 0 : -1));
}

/// Every value that depends on the inputs has to hold `batch` times as much. A model may join and
/// split the batch with other dimensions on the way.
Status check_values(const Model& single, const Model& batched, size_t batch) {
  const std::unordered_set<const Value*> dependent = dependent_values(batched);
  for (const auto& node : batched.nodes()) {
    for (const Value* many : node->outputs()) {
      const Value* const one = single.find_value(many->name());
      if (!dependent.contains(many) || one == nullptr || many->consumers().empty()) continue;
      if (!many->desc().is_static() || !one->desc().is_static()) {
        return error(StatusCode::NotSupported,
                     "the result of node '{}' ({}) is sized at run time, by all items of a batch "
                     "together",
                     node->name(), node->qualified_type());
      }
      const int64_t wanted = element_count(one->desc().shape) * static_cast<int64_t>(batch);
      if (element_count(many->desc().shape) != wanted) {
        return error(StatusCode::NotSupported,
                     "node '{}' ({}) computes items of a batch together: {} becomes {} with {} at "
                     "the inputs",
                     node->name(), node->qualified_type(), to_string(one->desc()),
                     to_string(many->desc()), batch);
      }
    }
    if (node->input(0) && dependent.contains(node->input(0)) && mixes_batch(*node, single)) {
      return error(StatusCode::NotSupported,
                   "node '{}' ({}) works along dimension 0, across the items of a batch",
                   node->name(), node->qualified_type());
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Model>> reshape_to_batch(const Model& model, size_t batch) {
  std::unique_ptr<Model> copy = model.clone();
  std::map<std::string, Shape> shapes;
  for (const ModelInput& input : model.inputs()) {
    HET_TRY(check_input(input));
    Shape shape = input.value->desc().shape;
    shape[0] = static_cast<int64_t>(batch);
    shapes[input.value->name()] = std::move(shape);
  }
  HET_TRY(copy->reshape(shapes));
  const std::unique_ptr<Model> single = model.clone();
  HET_TRY(prepare_model(*single));
  const std::unique_ptr<Model> batched = copy->clone();
  if (Status status = prepare_model(*batched); !status.ok()) {
    return Failure(status.with_context(fmt::format("with {} at the inputs", batch)));
  }
  HET_TRY(check_outputs(*single, *batched, batch));
  HET_TRY(check_values(*single, *batched, batch));
  return copy;
}

}  // namespace het::hetero
