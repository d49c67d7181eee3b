#include <algorithm>
#include <cmath>

#include "inference/passes/fusions/channels/channel_affine.h"
#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/fusions/int8/int8_product.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

/// Folds one reader; true when it did.
bool fold(Model& model, Node& node, const Int8Rules& rules) {
  const Value& out = *node.output();
  if (!tail_of(node.attributes()).empty()) return false;
  Node* reader = only_reader(model, out);
  if (reader == nullptr || reader->outputs().size() != 1) return false;
  const size_t axis = node.op_type() == "Int8Conv" ? 1 : out.desc().shape.size() - 1;
  const std::optional<ChannelAffine> affine = affine_of(*reader, out, axis);
  const auto channels = static_cast<size_t>(out.desc().shape[axis]);
  if (!affine || affine->scale.size() != channels) return false;
  const Tensor& old_scales = node.input(kInt8ScalesInput)->constant();
  std::vector<float> scales(old_scales.values<float>().begin(), old_scales.values<float>().end());
  scales.resize(channels, scales.front());
  std::vector<float> bias(channels, 0.0f);
  if (const Value* old_bias = node.input(kTailBiasInput)) {
    const auto values = to_float_vector(old_bias->constant());
    if (!values) return false;
    bias = *values;
  }
  for (size_t c = 0; c < channels; ++c) {
    scales[c] *= affine->scale[c];
    // The bias is in units of the sums, which only the scales turn into real values.
    bias[c] += affine->shift[c] / scales[c];
    if (!(scales[c] > 0.0f) || !std::isfinite(bias[c])) return false;
  }
  const Shape shape = {static_cast<int64_t>(channels)};
  std::vector<Value*> inputs = node.inputs();
  inputs[kTailBiasInput] =
      model.add_constant(node.name() + "/bias", Tensor::from<float>(shape, bias));
  inputs[kInt8ScalesInput] =
      model.add_constant(node.name() + "/scales", Tensor::from<float>(shape, scales));
  return replace_if(model, rules.can_run,
                    {&node, reader, node.op_type(), "het", std::move(inputs), node.attributes()}) !=
         nullptr;
}

}  // namespace

Status fold_int8_affine(Model& model, const Int8Rules& rules) {
  if (rules.can_run == nullptr) return {};
  // New nodes come last and are visited too.
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    Node& node = *model.nodes()[k];
    if (!is_detached(node) && is_unfinished_product(node)) fold(model, node, rules);
  }
  return {};
}

}  // namespace het
