#include <algorithm>
#include <functional>

#include "inference/passes/fusions/channels/channel_affine.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

/// A picture that is normalised in groups of channels: as rows between two Reshapes.
struct GroupNorm {
  Node* to_rows = nullptr;
  Node* norm = nullptr;
  Node* back = nullptr;
  int64_t groups = 1;
  std::vector<float> scale;  ///< by channel
  std::vector<float> bias;
};

std::optional<std::vector<float>> constant_floats(const Value* value, int64_t count) {
  if (value == nullptr || !value->is_constant() || value->constant().element_count() != count) {
    return std::nullopt;
  }
  const auto floats = to_float_vector(value->constant());
  if (!floats) return std::nullopt;
  return *floats;
}

std::optional<GroupNorm> group_norm_of(const Model& model, Node* norm) {
  if (!is_op(norm, "InstanceNormalization")) return std::nullopt;
  GroupNorm found;
  found.norm = norm;
  found.to_rows = norm->input(0)->producer();
  found.back = only_reader(model, *norm->output());
  if (!is_op(found.to_rows, "Reshape") || !is_op(found.back, "Reshape")) return std::nullopt;
  const TensorDesc& picture = found.to_rows->input(0)->desc();
  const TensorDesc& rows = norm->input(0)->desc();
  if (!picture.is_static() || !rows.is_static() || picture.shape.size() < 3 ||
      picture.type != ElementType::Float32 || found.back->output()->desc() != picture ||
      element_count(picture.shape) == 0 || rows.shape[0] != picture.shape[0] ||
      picture.shape[1] % rows.shape[1] != 0) {
    return std::nullopt;
  }
  found.groups = rows.shape[1];
  const auto scale = constant_floats(norm->input(1), found.groups);
  const auto bias = constant_floats(norm->input(2), found.groups);
  if (!scale || !bias) return std::nullopt;
  const int64_t of_group = picture.shape[1] / found.groups;
  for (int64_t c = 0; c < picture.shape[1]; ++c) {
    found.scale.push_back((*scale)[static_cast<size_t>(c / of_group)]);
    found.bias.push_back((*bias)[static_cast<size_t>(c / of_group)]);
  }
  return found;
}

/// The numbers per channel with which the node combines `value`.
std::optional<std::vector<float>> channel_operand(const Node* node, std::string_view type,
                                                  const Value& value) {
  if (!is_op(node, type)) return std::nullopt;
  const Value* other = node->input(node->input(0) == &value ? 1 : 0);
  const Shape& shape = value.desc().shape;
  // [C, 1, ...] or [1, C, 1, ...]
  Shape wanted(shape.size() - 1, 1);
  wanted[0] = shape[1];
  Shape own = other->desc().shape;
  if (own.size() == shape.size() && own[0] == 1) own.erase(own.begin());
  if (own != wanted) return std::nullopt;
  return constant_floats(other, shape[1]);
}

template <class F>
std::vector<float> combined(std::vector<float> a, const std::vector<float>& b, F f) {
  std::ranges::transform(a, b, a.begin(), f);
  return a;
}

void fuse_group(Model& model, GroupNorm found) {
  std::vector<Node*> chain = {found.back};
  const auto result = [&]() -> const Value& { return *chain.back()->output(); };
  Node* reader = only_reader(model, result());
  // Infinities stay where they are: 0 times one is NaN.
  const auto takes = [&](std::vector<float> scale, std::vector<float> bias) {
    if (!are_finite(scale) || !are_finite(bias)) return false;
    found.scale = std::move(scale);
    found.bias = std::move(bias);
    chain.push_back(reader);
    reader = only_reader(model, result());
    return true;
  };
  const auto factor = channel_operand(reader, "Mul", result());
  if (factor && !takes(combined(found.scale, *factor, std::multiplies<float>()),
                       combined(found.bias, *factor, std::multiplies<float>()))) {
    reader = nullptr;
  }
  if (const auto shift = channel_operand(reader, "Add", result())) {
    takes(found.scale, combined(found.bias, *shift, std::plus<float>()));
  }
  const auto channels = static_cast<int64_t>(found.scale.size());
  const std::string& name = found.norm->name();
  Value* const scale =
      model.add_constant(name + "/channel_scale", Tensor::from<float>({channels}, found.scale));
  Value* const bias =
      model.add_constant(name + "/channel_bias", Tensor::from<float>({channels}, found.bias));
  Attributes attributes;
  attributes.set("epsilon", found.norm->attributes().get_float("epsilon", 1e-5f));
  attributes.set("num_groups", found.groups);
  if (only_reader(model, *found.norm->input(0)) == found.norm) {
    chain.insert(chain.begin(), found.to_rows);
  }
  Node* const made = replace(model, {found.norm,
                                     chain.back(),
                                     "GroupNormalization",
                                     "",
                                     {found.to_rows->input(0), scale, bias},
                                     std::move(attributes)});
  chain.pop_back();
  for (Node* node : chain) {
    made->add_original_names(node->original_names());
    detach(model, *node);
  }
}

}  // namespace

Status fuse_group_norm(Model& model) {
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    auto found = group_norm_of(model, model.nodes()[k].get());
    if (found) fuse_group(model, std::move(*found));
  }
  return {};
}

}  // namespace het
