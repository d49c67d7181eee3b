#include <optional>

#include "inference/passes/fusions/channels/channel_affine.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

/// Where the output channel lies in the weights: element (o, c, i) is channel c.
struct WeightsView {
  int64_t outer = 1;
  int64_t channels = 1;
  int64_t inner = 1;
  int64_t repeats = 1;  ///< groups of a transposed convolution: channel = group * channels + c
};

/// Dimension of the output that weights' channels make, and where they lie; nothing when `node` has
/// no constant weights of float.
struct Target {
  size_t axis;
  WeightsView view;
};
std::optional<Target> target_of(const Node& node) {
  if (!node.domain().empty() || node.inputs().size() < 2) return std::nullopt;
  const Value* weights = node.input(1);
  const Value* bias = node.input(2);
  if (weights == nullptr || !weights->is_constant() ||
      weights->desc().type != ElementType::Float32 || !node.output()->desc().is_static() ||
      (bias != nullptr && !bias->is_constant())) {
    return std::nullopt;
  }
  const Shape& shape = weights->desc().shape;
  const std::string& type = node.op_type();
  if (type == "Conv") {
    return Target{1, {1, shape[0], element_count(shape) / std::max<int64_t>(shape[0], 1), 1}};
  }
  if (type == "InstanceNormalization") return Target{1, {1, shape[0], 1, 1}};
  if (type == "ConvTranspose") {
    const int64_t group = node.attributes().get_int("group", 1);
    return Target{1,
                  {shape[0], shape[1],
                   element_count(shape) / std::max<int64_t>(shape[0] * shape[1], 1), group}};
  }
  return std::nullopt;
}

Tensor scaled_weights(const Tensor& weights, const WeightsView& view,
                      const std::vector<float>& scale) {
  std::vector<float> values(weights.values<float>().begin(), weights.values<float>().end());
  const int64_t rows_per_group = view.outer / view.repeats;
  for (int64_t o = 0; o < view.outer; ++o) {
    const int64_t group = view.repeats > 1 ? o / rows_per_group : 0;
    for (int64_t c = 0; c < view.channels; ++c) {
      const float factor = scale[static_cast<size_t>(group * view.channels + c)];
      float* row = values.data() + (o * view.channels + c) * view.inner;
      for (int64_t i = 0; i < view.inner; ++i) row[i] *= factor;
    }
  }
  return Tensor::from<float>(weights.shape(), values);
}

/// Folds one reader; true when it did.
Result<bool> fold(Model& model, Node& conv) {
  const std::optional<Target> target = target_of(conv);
  if (!target) return false;
  Node* reader = only_reader(model, *conv.output());
  if (reader == nullptr || reader->outputs().size() != 1) return false;
  const std::optional<ChannelAffine> affine = affine_of(*reader, *conv.output(), target->axis);
  if (!affine) return false;
  const size_t channels = affine->scale.size();
  if (static_cast<int64_t>(channels) != conv.output()->desc().shape[target->axis]) return false;
  std::vector<float> bias(channels, 0.0f);
  if (conv.input(2) != nullptr) {
    HET_ASSIGN(bias, to_float_vector(conv.input(2)->constant()));
    if (bias.size() != channels) return false;
  }
  for (size_t c = 0; c < channels; ++c) bias[c] = bias[c] * affine->scale[c] + affine->shift[c];
  std::vector<Value*> inputs = conv.inputs();
  inputs.resize(3, nullptr);
  const bool scales = affine->scale != std::vector<float>(channels, 1.0f);
  if (scales) {
    inputs[1] = model.add_constant(
        inputs[1]->name(), scaled_weights(inputs[1]->constant(), target->view, affine->scale));
  }
  inputs[2] = model.add_constant(conv.name() + "/bias",
                                 Tensor::from<float>({static_cast<int64_t>(channels)}, bias));
  replace(model, {&conv, reader, conv.op_type(), "", std::move(inputs), conv.attributes()});
  return true;
}

/// MatMul + Add of a row becomes het.MatMul with a bias.
bool fold_row_bias(Model& model, Node& product) {
  if (product.op_type() != "MatMul" || !product.domain().empty()) return false;
  const Value& out = *product.output();
  if (!out.desc().is_static() || out.desc().type != ElementType::Float32 ||
      out.desc().shape.empty()) {
    return false;
  }
  Node* reader = only_reader(model, out);
  if (reader == nullptr || reader->op_type() != "Add" || !reader->domain().empty()) return false;
  Value* row = reader->input(reader->input(0) == &out ? 1 : 0);
  const size_t last = out.desc().shape.size() - 1;
  if (reader->output()->desc().shape != out.desc().shape ||
      !per_channel(row, out.desc().shape, last) ||
      row->constant().element_count() != out.desc().shape[last]) {
    return false;
  }
  replace(model, {&product,
                  reader,
                  "MatMul",
                  "het",
                  {product.input(0), product.input(1), row},
                  product.attributes()});
  return true;
}

}  // namespace

Status fold_channel_affine(Model& model) {
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    Node& node = *model.nodes()[k];
    if (is_detached(node)) continue;
    HET_ASSIGN(const bool folded, fold(model, node));
    if (!folded) fold_row_bias(model, node);
  }
  return {};
}

Status lower_batch_norm(Model& model) {
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    Node& node = *model.nodes()[k];
    if (node.op_type() != "BatchNormalization" || !node.domain().empty() || is_detached(node) ||
        node.outputs().size() != 1 || !node.output()->desc().is_static() ||
        node.output()->desc().type != ElementType::Float32) {
      continue;
    }
    const std::optional<ChannelAffine> affine = batch_norm_affine(node);
    if (!affine) continue;
    Shape shape(node.output()->desc().shape.size(), 1);
    if (shape.size() < 2) continue;
    shape[1] = static_cast<int64_t>(affine->scale.size());
    Value* scale =
        model.add_constant(node.name() + "/scale", Tensor::from<float>(shape, affine->scale));
    Value* shift =
        model.add_constant(node.name() + "/shift", Tensor::from<float>(shape, affine->shift));
    Attributes attributes;
    attributes.set("program", std::vector<std::string>{"Mul 0 1", "Add 3 2"});
    attributes.set("alphas", std::vector<float>{0.0f, 0.0f});
    attributes.set("betas", std::vector<float>{0.0f, 0.0f});
    replace(
        model,
        {&node, &node, "Elementwise", "het", {node.input(0), scale, shift}, std::move(attributes)});
  }
  return {};
}

}  // namespace het
