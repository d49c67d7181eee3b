#include "inference/ops/op.h"
#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/fusions/int8/int8_product.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/fusions/stored_value.h"

namespace het {
namespace {

/// A matrix product of floats and constants that makes as many channels as it reads, or more: to
/// read its source in another format costs less than to write and read the result.
bool is_candidate(const Node& node) {
  if (node.op_type() != "Conv" || is_detached(node)) return false;
  const TensorDesc& src = node.input(0)->desc();
  const TensorDesc& weights = node.input(1)->desc();
  const Value* bias = node.input(kTailBiasInput);
  return src.type == ElementType::Float32 && src.is_static() && element_count(src.shape) > 0 &&
         node.input(1)->is_constant() && (bias == nullptr || bias->is_constant()) &&
         node.input(kTailSumInput) == nullptr && node.input(kTailSlopesInput) == nullptr &&
         is_pixelwise(node) && weights.shape[0] >= weights.shape[1];
}

}  // namespace

Status round_convolutions(Model& model, bool (*can_run)(const Node& rounded)) {
  const size_t count = model.nodes().size();
  for (size_t k = 0; k < count; ++k) {
    Node& node = *model.nodes()[k];
    if (!is_candidate(node)) continue;
    Node* const quantise = only_reader(model, *node.output());
    const std::optional<StoredValue> dst = stored_by(quantise, Steps::PerTensorOrChannel);
    if (!dst) continue;
    Int8Product product;
    product.tail = tail_of(node.attributes());
    set_steps(product, *dst);
    Attributes attributes = node.attributes();
    set_int8_product(attributes, product);
    replace_if(model, can_run,
               {&node, quantise, "RoundedConv", "het", node.inputs(), std::move(attributes)});
  }
  return {};
}

}  // namespace het
