#include <algorithm>

#include "inference/passes/fusions/constant_scale.h"
#include "inference/passes/fusions/elementwise_program.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

/// Rounds to steps of `step`, limits to [low, high] steps and multiplies by `scale`.
ElementwiseNode rounding(Model& model, const Node& quantise, float step, float low, float high,
                         float scale) {
  ElementwiseNode result{{1, {}}, {quantise.input(0)}};
  auto& instructions = result.program.instructions;
  if (step != 1.0f) {
    result.operands.push_back(model.add_constant(quantise.name() + "/scale", Tensor::scalar(step)));
    result.program.operands = 2;
    instructions.push_back({ElementwiseKind::Div, 0, 1});
  }
  const auto last = [&] {
    return static_cast<uint8_t>(
        instructions.empty() ? 0 : result.program.operands + instructions.size() - 1);
  };
  instructions.push_back({ElementwiseKind::Round, last()});
  instructions.push_back({ElementwiseKind::Clip, last(), 0, low, high});
  if (scale != 1.0f) instructions.push_back({ElementwiseKind::Linear, last(), 0, scale, 0.0f});
  return result;
}

/// One rounded value per scale with which it is read back.
struct Rounded {
  float scale;
  Value* value;
};

}  // namespace

Status fuse_fake_quantisation(Model& model) {
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    Node& quantise = *model.nodes()[k];
    if (quantise.op_type() != "QuantizeLinear" || is_detached(quantise)) continue;
    Value& stored = *quantise.output();
    const bool is_byte =
        stored.desc().type == ElementType::UInt8 || stored.desc().type == ElementType::Int8;
    const std::optional<ConstantScale> scale = tensor_scale(quantise, 1);
    if (!scale || !is_byte || quantise.input(0)->desc().type != ElementType::Float32 ||
        !stored.desc().is_static()) {
      continue;
    }
    const float low = (stored.desc().type == ElementType::Int8 ? -128.0f : 0.0f) -
                      static_cast<float>(scale->zeros[0]);
    std::vector<Rounded> made;
    const std::vector<Node*> readers = stored.consumers();
    for (Node* reader : readers) {
      if (reader->op_type() != "DequantizeLinear" || reader->input(0) != &stored ||
          reader->output()->desc().type != ElementType::Float32) {
        continue;
      }
      const std::optional<ConstantScale> back = tensor_scale(*reader, 1);
      if (!back || back->zeros != scale->zeros) continue;
      auto same = std::find_if(made.begin(), made.end(),
                               [&](const Rounded& r) { return r.scale == back->scales[0]; });
      if (same == made.end()) {
        const ElementwiseNode fused =
            rounding(model, quantise, scale->scales[0], low, low + 255.0f, back->scales[0]);
        Node* node =
            model.add_node(quantise.name() + "/rounded", "Elementwise", "het", fused.operands,
                           {stored.name() + "/rounded"}, to_attributes(fused.program));
        node->add_original_names(quantise.original_names());
        model.set_desc(node->output(), {ElementType::Float32, stored.desc().shape, Layout::Plain});
        same = made.insert(made.end(), {back->scales[0], node->output()});
      }
      same->value->producer()->add_original_names(reader->original_names());
      model.replace_uses(reader->output(), same->value);
      detach(model, *reader);
    }
  }
  return {};
}

}  // namespace het
