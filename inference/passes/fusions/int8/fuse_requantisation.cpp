#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/fusions/int8/int8_product.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/fusions/stored_value.h"

namespace het {

Status fuse_requantisation(Model& model, const Int8Rules& rules) {
  if (rules.can_run == nullptr) return {};
  const size_t count = model.nodes().size();
  for (size_t k = 0; k < count; ++k) {
    Node& node = *model.nodes()[k];
    if (is_detached(node) || !is_unfinished_product(node)) continue;
    Node* quantise = only_reader(model, *node.output());
    const std::optional<StoredValue> dst = stored_by(quantise, Steps::PerTensorOrChannel);
    if (!dst) continue;
    Int8Product product = int8_product_of(node);
    product.dst_scales = dst->channel_scales;
    if (product.dst_scales.empty()) product.dst_scales = {dst->scale};
    product.dst_zero = dst->zero;
    product.dst_zeros = dst->channel_zeros;
    Attributes attributes = node.attributes();
    set_int8_product(attributes, product);
    replace_if(model, rules.can_run,
               {&node, quantise, node.op_type(), "het", node.inputs(), std::move(attributes)});
  }
  return {};
}

}  // namespace het
