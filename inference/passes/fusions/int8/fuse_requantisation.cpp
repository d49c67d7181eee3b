#include <algorithm>
#include <functional>

#include "inference/passes/fusions/channels/channel_affine.h"
#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/fusions/int8/int8_product.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/fusions/stored_value.h"

namespace het {
namespace {

/// The positive factor of each channel by which `node` multiplies the product; empty where it does
/// something else.
std::vector<float> factors_of(const Node& node, const Node& product) {
  const Value& value = *product.output();
  const size_t axis = product.op_type() == "Int8Conv" ? 1 : value.desc().shape.size() - 1;
  const std::optional<ChannelAffine> affine = affine_of(node, value, axis);
  if (!affine || std::ranges::any_of(affine->shift, [](float shift) { return shift != 0.0f; }) ||
      std::ranges::any_of(affine->scale, [](float scale) { return !(scale > 0.0f); })) {
    return {};
  }
  return affine->scale;
}

}  // namespace

Status fuse_requantisation(Model& model, const Int8Rules& rules) {
  if (rules.can_run == nullptr) return {};
  const size_t count = model.nodes().size();
  for (size_t k = 0; k < count; ++k) {
    Node& node = *model.nodes()[k];
    if (is_detached(node) || !is_unfinished_product(node)) continue;
    Node* multiply = only_reader(model, *node.output());
    if (multiply == nullptr) continue;
    // Values that are multiplied channel by channel before they are stored have steps of their own.
    const std::vector<float> factors = factors_of(*multiply, node);
    Node* const quantise = factors.empty() ? multiply : only_reader(model, *multiply->output());
    const std::optional<StoredValue> dst =
        stored_by(quantise, factors.empty() ? Steps::PerTensorOrChannel : Steps::PerTensor);
    if (!dst) continue;
    Int8Product product = int8_product_of(node);
    set_steps(product, *dst);
    if (!factors.empty()) {
      product.dst_scales.resize(factors.size(), dst->scale);
      std::ranges::transform(product.dst_scales, factors, product.dst_scales.begin(),
                             std::divides<>());
    }
    Attributes attributes = node.attributes();
    set_int8_product(attributes, product);
    Node* const made =
        replace_if(model, rules.can_run,
                   {&node, quantise, node.op_type(), "het", node.inputs(), std::move(attributes)});
    if (made == nullptr || factors.empty()) continue;
    made->add_original_names(multiply->original_names());
    detach(model, *multiply);
  }
  return {};
}

}  // namespace het
