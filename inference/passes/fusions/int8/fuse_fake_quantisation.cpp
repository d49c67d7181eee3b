#include <algorithm>

#include "inference/passes/fusions/constant_scale.h"
#include "inference/passes/fusions/elementwise_program.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/tensors/shape.h"

namespace het {
namespace {

/// Rounds to steps of `step`, limits to [low, high] steps and multiplies by `scale`. NaN is stored
/// as the zero point.
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
  instructions.push_back({ElementwiseKind::ReplaceNaN, last()});
  instructions.push_back({ElementwiseKind::Clip, last(), 0, low, high});
  if (scale != 1.0f) instructions.push_back({ElementwiseKind::Linear, last(), 0, scale, 0.0f});
  return result;
}

/// The same with numbers of their own for each index of a dimension, `shape` being theirs.
ElementwiseNode rounding_of_channels(Model& model, const Node& quantise, const Shape& shape,
                                     const std::vector<float>& steps,
                                     const std::vector<float>& lows,
                                     const std::vector<float>& scales) {
  ElementwiseNode result{{5, {}}, {quantise.input(0)}};
  const auto add = [&](const char* name, const std::vector<float>& values) {
    result.operands.push_back(
        model.add_constant(quantise.name() + name, Tensor::from<float>(shape, values)));
  };
  std::vector<float> highs;
  for (const float low : lows) highs.push_back(low + 255.0f);
  add("/scale", steps);
  add("/low", lows);
  add("/high", highs);
  add("/back", scales);
  result.program.instructions = {{ElementwiseKind::Div, 0, 1},     {ElementwiseKind::Round, 5},
                                 {ElementwiseKind::ReplaceNaN, 6}, {ElementwiseKind::Max, 7, 2},
                                 {ElementwiseKind::Min, 8, 3},     {ElementwiseKind::Mul, 9, 4}};
  return result;
}

/// One rounded value for the scales with which it is read back.
struct Rounded {
  std::vector<float> scales;
  Value* value;
};

/// The scales of a node, of the whole tensor or one for each index of a dimension.
struct LinearScale {
  ConstantScale constant;
  Shape shape;  ///< that is broadcast to the tensor's; empty for the whole
};

std::optional<LinearScale> linear_scale(const Node& node, const Shape& tensor) {
  const std::optional<ConstantScale> scale = constant_scale(node, 1);
  if (!scale) return std::nullopt;
  LinearScale found{*scale, {}};
  if (scale->per_tensor()) return found;
  const auto axis = normalize_axis(node.attributes().get_int("axis", 1), std::ssize(tensor));
  if (!axis || node.attributes().get_int("block_size", 0) != 0 ||
      std::ssize(scale->scales) != tensor[static_cast<size_t>(*axis)]) {
    return std::nullopt;
  }
  found.shape.assign(tensor.size(), 1);
  found.shape[static_cast<size_t>(*axis)] = std::ssize(scale->scales);
  return found;
}

}  // namespace

Status fuse_fake_quantisation(Model& model) {
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    Node& quantise = *model.nodes()[k];
    if (quantise.op_type() != "QuantizeLinear" || is_detached(quantise)) continue;
    Value& stored = *quantise.output();
    const bool is_byte =
        stored.desc().type == ElementType::UInt8 || stored.desc().type == ElementType::Int8;
    if (!is_byte || quantise.input(0)->desc().type != ElementType::Float32 ||
        !stored.desc().is_static()) {
      continue;
    }
    const std::optional<LinearScale> scale = linear_scale(quantise, stored.desc().shape);
    if (!scale) continue;
    std::vector<float> lows;
    for (const int64_t zero : scale->constant.zeros) {
      lows.push_back((stored.desc().type == ElementType::Int8 ? -128.0f : 0.0f) -
                     static_cast<float>(zero));
    }
    std::vector<Rounded> made;
    const std::vector<Node*> readers = stored.consumers();
    for (Node* reader : readers) {
      if (reader->op_type() != "DequantizeLinear" || reader->input(0) != &stored ||
          reader->output()->desc().type != ElementType::Float32) {
        continue;
      }
      const std::optional<LinearScale> back = linear_scale(*reader, stored.desc().shape);
      if (!back || back->constant.zeros != scale->constant.zeros || back->shape != scale->shape) {
        continue;
      }
      const std::vector<float>& scales = back->constant.scales;
      auto same = std::find_if(made.begin(), made.end(),
                               [&](const Rounded& r) { return r.scales == scales; });
      if (same == made.end()) {
        const std::vector<float>& steps = scale->constant.scales;
        const ElementwiseNode fused =
            scale->shape.empty()
                ? rounding(model, quantise, steps[0], lows[0], lows[0] + 255.0f, scales[0])
                : rounding_of_channels(model, quantise, scale->shape, steps, lows, scales);
        Node* node =
            model.add_node(quantise.name() + "/rounded", "Elementwise", "het", fused.operands,
                           {stored.name() + "/rounded"}, to_attributes(fused.program));
        node->add_original_names(quantise.original_names());
        model.set_desc(node->output(), {ElementType::Float32, stored.desc().shape, Layout::Plain});
        same = made.insert(made.end(), {scales, node->output()});
      }
      same->value->producer()->add_original_names(reader->original_names());
      model.replace_uses(reader->output(), same->value);
      detach(model, *reader);
    }
  }
  return {};
}

}  // namespace het
