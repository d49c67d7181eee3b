#include <algorithm>

#include "inference/passes/fusions/elementwise_program.h"
#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/fusions/stored_value.h"

namespace het {
namespace {

/// As many numbers as channels, as they meet a picture.
template <class T>
Value* add_channels(Model& model, const std::string& name, const std::vector<T>& values) {
  return model.add_constant(name,
                            Tensor::from<float>({std::ssize(values), 1, 1},
                                                std::vector<float>(values.begin(), values.end())));
}

Value* add_zero(Model& model, const std::string& name, ElementType type, int32_t zero) {
  return model.add_constant(name, type == ElementType::Int8
                                      ? Tensor::scalar(static_cast<int8_t>(zero))
                                      : Tensor::scalar(static_cast<uint8_t>(zero)));
}

/// (bytes - zero point) * scale with the zero points and scales of channels.
void lower_dequantise(Model& model, Node& node) {
  const std::optional<StoredValue> src = stored_behind(*node.output(), Steps::PerTensorOrChannel);
  if (!src || src->channel_scales.empty() || src->stored->is_constant()) return;
  const std::string& name = node.name();
  // Bytes as they are, or less the zero point that all have.
  Value* const one = model.add_constant(name + "/one", Tensor::scalar(1.0f));
  const int32_t common = src->channel_zeros.empty() ? src->zero : 0;
  Node* const whole =
      model.add_node(name + "/whole", "DequantizeLinear", "",
                     {src->stored, one, add_zero(model, name + "/zero", src->type(), common)},
                     {node.output()->name() + "/whole"}, {});
  model.set_desc(whole->output(), node.output()->desc());
  ElementwiseNode made{{2, {}}, {whole->output()}};
  if (!src->channel_zeros.empty()) {
    made.operands.push_back(add_channels(model, name + "/zeros", src->channel_zeros));
    made.program = {3, {{ElementwiseKind::Sub, 0, 1}, {ElementwiseKind::Mul, 3, 2}}};
  } else {
    made.program.instructions = {{ElementwiseKind::Mul, 0, 1}};
  }
  made.operands.push_back(add_channels(model, name + "/scales", src->channel_scales));
  replace(model, {&node, &node, "Elementwise", "het", made.operands, to_attributes(made.program)});
}

/// What expressions make, divided by the scales of channels.
void lower_quantise(Model& model, Node& node) {
  const std::optional<StoredValue> dst = stored_by(&node, Steps::PerTensorOrChannel);
  if (!dst || dst->channel_scales.empty() || !dst->channel_zeros.empty()) return;
  Value* const real = node.input(0);
  if (real->producer() == nullptr || only_reader(model, *real) != &node ||
      !elementwise_of(*real->producer())) {
    return;
  }
  const std::string& name = node.name();
  Node* const divided = model.add_node(
      name + "/divided", "Elementwise", "het",
      {real, add_channels(model, name + "/scales", dst->channel_scales)},
      {real->name() + "/divided"}, to_attributes({2, {{ElementwiseKind::Div, 0, 1}}}));
  model.set_desc(divided->output(), real->desc());
  Value* const one = model.add_constant(name + "/one", Tensor::scalar(1.0f));
  replace(model, {&node,
                  &node,
                  "QuantizeLinear",
                  "",
                  {divided->output(), one, add_zero(model, name + "/zero", dst->type(), dst->zero)},
                  {}});
}

}  // namespace

Status lower_channel_quantisation(Model& model) {
  const size_t count = model.nodes().size();
  for (size_t k = 0; k < count; ++k) {
    Node& node = *model.nodes()[k];
    if (!node.domain().empty() || is_detached(node)) continue;
    if (node.op_type() == "DequantizeLinear") lower_dequantise(model, node);
    if (node.op_type() == "QuantizeLinear") lower_quantise(model, node);
  }
  return {};
}

}  // namespace het
