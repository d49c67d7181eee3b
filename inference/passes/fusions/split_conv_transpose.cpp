#include <algorithm>

#include "inference/ops/products/conv_transpose.h"
#include "inference/passes/fusions/fused_tail.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

/// The side of the windows of a transposed convolution that lie side by side: as large as its
/// strides, without padding.
std::optional<int64_t> side_of_windows(const Node& node) {
  if (node.op_type() != "ConvTranspose" || is_detached(node) ||
      !node.output()->desc().is_static() || node.output()->desc().type != ElementType::Float32 ||
      !node.input(1)->is_constant() || node.input(1)->desc().shape.size() != 4) {
    return std::nullopt;
  }
  if (node.input(kTailSumInput) != nullptr || node.input(kTailSlopesInput) != nullptr) {
    return std::nullopt;
  }
  const auto window =
      conv_transpose_attributes(node, node.input(0)->desc().shape, node.input(1)->desc().shape);
  if (!window || window->group != 1) return std::nullopt;
  const auto are_all = [](const std::vector<int64_t>& values, int64_t wanted) {
    return std::ranges::all_of(values, [&](int64_t value) { return value == wanted; });
  };
  const int64_t side = window->kernel[0];
  if (side < 2 || !are_all(window->kernel, side) || !are_all(window->strides, side) ||
      !are_all(window->dilations, 1) || !are_all(window->pads_begin, 0) ||
      !are_all(window->pads_end, 0)) {
    return std::nullopt;
  }
  return side;
}

/// Weights [ic, oc, side, side] of a channel for each place of a window: [side * side * oc, ic].
Tensor weights_by_place(const Tensor& weights) {
  const Shape& shape = weights.shape();
  const int64_t ic = shape[0];
  const int64_t oc = shape[1];
  const int64_t places = shape[2] * shape[3];
  const std::span<const float> from = weights.values<float>();
  std::vector<float> to(from.size());
  size_t next = 0;
  for (int64_t i = 0; i < ic; ++i) {
    for (int64_t o = 0; o < oc; ++o) {
      for (int64_t place = 0; place < places; ++place) {
        to[static_cast<size_t>((place * oc + o) * ic + i)] = from[next++];
      }
    }
  }
  return Tensor::from<float>({places * oc, ic, 1, 1}, to);
}

Tensor bias_by_place(const Tensor& bias, int64_t places) {
  std::vector<float> values;
  for (int64_t place = 0; place < places; ++place) {
    const std::span<const float> own = bias.values<float>();
    values.insert(values.end(), own.begin(), own.end());
  }
  return Tensor::from<float>({static_cast<int64_t>(values.size())}, values);
}

}  // namespace

Status split_conv_transpose(Model& model) {
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    Node& node = *model.nodes()[k];
    const auto side = side_of_windows(node);
    const Value* bias = node.input(kTailBiasInput);
    if (!side || (bias != nullptr && !bias->is_constant())) continue;
    const int64_t places = *side * *side;
    std::vector<Value*> inputs = {
        node.input(0),
        model.add_constant(node.input(1)->name(), weights_by_place(node.input(1)->constant()))};
    if (bias != nullptr) {
      inputs.push_back(model.add_constant(bias->name(), bias_by_place(bias->constant(), places)));
    }
    Attributes attributes;
    const FusedTail tail = tail_of(node.attributes());
    if (!tail.empty()) set_tail(attributes, tail);
    Node* const product = model.add_node(node.name(), "Conv", node.domain(), std::move(inputs),
                                         {node.name() + "/places"}, std::move(attributes));
    TensorDesc desc = node.input(0)->desc();
    desc.shape[1] = places * node.output()->desc().shape[1];
    model.set_desc(product->output(), std::move(desc));
    product->set_affinity(node.affinity());
    product->add_original_names(node.original_names());
    Attributes blocks;
    blocks.set("blocksize", *side);
    replace(model, {&node, &node, "DepthToSpace", "", {product->output()}, std::move(blocks)});
  }
  return {};
}

}  // namespace het
