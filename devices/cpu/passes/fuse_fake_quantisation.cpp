#include "devices/cpu/constant_scale.h"
#include "devices/cpu/elementwise_program.h"
#include "devices/cpu/passes/passes.h"
#include "devices/cpu/passes/rewrite.h"

namespace het::cpu {
namespace {

/// The scale of a node that has one for the whole tensor.
std::optional<ConstantScale> tensor_scale(const Node& node) {
  const std::optional<ConstantScale> scale = constant_scale(node, 1);
  return scale && scale->per_tensor() ? scale : std::nullopt;
}

bool same_scale(const ConstantScale& a, const ConstantScale& b) {
  return a.scales == b.scales && a.zeros == b.zeros;
}

}  // namespace

Status fuse_fake_quantisation(Model& model) {
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    Node& quantise = *model.nodes()[k];
    if (quantise.op_type() != "QuantizeLinear" || is_detached(quantise)) continue;
    const Value& src = *quantise.input(0);
    Value& stored = *quantise.output();
    const bool is_byte =
        stored.desc().type == ElementType::UInt8 || stored.desc().type == ElementType::Int8;
    const std::optional<ConstantScale> scale = tensor_scale(quantise);
    if (!scale || !is_byte || src.desc().type != ElementType::Float32 ||
        !stored.desc().is_static()) {
      continue;
    }
    // Every DequantizeLinear that reads it back gets the rounded float value instead.
    const float low = (stored.desc().type == ElementType::Int8 ? -128.0f : 0.0f) -
                      static_cast<float>(scale->zeros[0]);
    Value* rounded = nullptr;
    const std::vector<Node*> readers = stored.consumers();
    for (Node* reader : readers) {
      if (reader->op_type() != "DequantizeLinear" || reader->input(0) != &stored ||
          reader->output()->desc().type != ElementType::Float32) {
        continue;
      }
      const std::optional<ConstantScale> back = tensor_scale(*reader);
      if (!back || !same_scale(*scale, *back)) continue;
      if (rounded == nullptr) {
        ElementwiseProgram program;
        program.operands = 2;
        program.instructions = {{ElementwiseKind::Div, 0, 1},
                                {ElementwiseKind::Round, 2},
                                {ElementwiseKind::Clip, 3, 0, low, low + 255.0f},
                                {ElementwiseKind::Linear, 4, 0, scale->scales[0], 0.0f}};
        Value* divisor =
            model.add_constant(quantise.name() + "/scale", Tensor::scalar(scale->scales[0]));
        Node* made = model.add_node(quantise.name() + "/fake", "Elementwise", "het",
                                    {quantise.input(0), divisor}, {stored.name() + "/real"},
                                    to_attributes(program));
        made->add_original_names(quantise.original_names());
        model.set_desc(made->output(), {ElementType::Float32, stored.desc().shape, Layout::Plain});
        rounded = made->output();
      }
      rounded->producer()->add_original_names(reader->original_names());
      model.replace_uses(reader->output(), rounded);
      detach(model, *reader);
    }
  }
  return {};
}

}  // namespace het::cpu
