#include <algorithm>
#include <cmath>

#include "inference/passes/fusions/elementwise_program.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

/// Two limits of a FakeQuantize, broadcast to each other; one value each where they hold for the
/// whole tensor.
struct Limits {
  Shape shape;
  std::vector<float> low;
  std::vector<float> high;
  bool per_tensor() const { return low.size() == 1; }
};

std::vector<float> expanded(const Tensor& tensor, const Shape& shape) {
  const Shape dims = tensor.shape();
  std::vector<int64_t> strides(shape.size(), 0);
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    strides[shape.size() - dims.size() + d] = dims[d] == 1 ? 0 : stride;
    stride *= dims[d];
  }
  std::vector<float> values;
  for (int64_t i = 0; i < element_count(shape); ++i) {
    int64_t rest = i;
    int64_t at = 0;
    for (size_t d = shape.size(); d-- > 0;) {
      at += rest % shape[d] * strides[d];
      rest /= shape[d];
    }
    values.push_back(tensor.data<float>()[at]);
  }
  return values;
}

/// The constants of inputs `index` and `index + 1`; nothing when they are computed at run time.
std::optional<Limits> constant_limits(const Node& node, size_t index) {
  const Value* low = node.input(index);
  const Value* high = node.input(index + 1);
  if (!low->is_constant() || !high->is_constant() ||
      low->constant().type() != ElementType::Float32 ||
      high->constant().type() != ElementType::Float32) {
    return std::nullopt;
  }
  const Result<Shape> shape = broadcast(low->constant().shape(), high->constant().shape());
  if (!shape) return std::nullopt;
  return Limits{*shape, expanded(low->constant(), *shape), expanded(high->constant(), *shape)};
}

class ProgramMaker {
 public:
  ProgramMaker(Model& model, const Node& node) : model_(model), node_(node) {
    made_.operands = {node.input(0)};
  }

  /// `low` <= x <= `high`
  void clip(const Limits& limits) {
    if (limits.per_tensor()) {
      add({ElementwiseKind::Clip, 0, 0, limits.low[0], limits.high[0]});
    } else {
      add({ElementwiseKind::Max}, operand("low", limits.shape, limits.low));
      add({ElementwiseKind::Min}, operand("high", limits.shape, limits.high));
    }
  }

  void round() { add({ElementwiseKind::Round}); }

  /// x * scale + shift
  void scale(std::string_view name, const Shape& shape, const std::vector<float>& scale,
             const std::vector<float>& shift) {
    if (scale.size() == 1) {
      add({ElementwiseKind::Linear, 0, 0, scale[0], shift[0]});
    } else {
      add({ElementwiseKind::Mul}, operand(std::string(name) + "_scale", shape, scale));
      add({ElementwiseKind::Add}, operand(std::string(name) + "_shift", shape, shift));
    }
  }

  /// Registers are the operands, then the results: known once all operands are.
  ElementwiseNode finish() {
    const size_t operands = made_.operands.size();
    made_.program.operands = operands;
    for (size_t i = 0; i < made_.program.instructions.size(); ++i) {
      made_.program.instructions[i].a = static_cast<uint8_t>(i == 0 ? 0 : operands + i - 1);
    }
    return std::move(made_);
  }

 private:
  uint8_t operand(std::string_view name, const Shape& shape, const std::vector<float>& values) {
    made_.operands.push_back(model_.add_constant(node_.name() + "/" + std::string(name),
                                                 Tensor::from<float>(shape, values)));
    return static_cast<uint8_t>(made_.operands.size() - 1);
  }

  void add(ElementwiseInstruction instruction, uint8_t b = 0) {
    instruction.b = b;
    made_.program.instructions.push_back(instruction);
  }

  Model& model_;
  const Node& node_;
  ElementwiseNode made_;
};

/// round((clip(x) - input_low) * levels / input range) * output range / levels + output_low
std::optional<ElementwiseNode> rounding(Model& model, const Node& node) {
  const std::optional<Limits> input = constant_limits(node, 1);
  const std::optional<Limits> output = constant_limits(node, 3);
  if (!input || !output) return std::nullopt;
  const auto steps = static_cast<float>(node.attributes().get_int("levels", 2) - 1);
  std::vector<float> to_level, level_of_zero, to_value;
  for (size_t i = 0; i < input->low.size(); ++i) {
    const float range = input->high[i] - input->low[i];
    const float scale = steps / range;
    // Not -low * scale: a zero that lies on a level must give that whole number.
    const float shift = 0.0f - input->low[i] * steps / range;
    // Equal limits and limits in reverse order are left to the reference, and what is no number.
    if (!(range > 0) || !std::isfinite(range) || !std::isfinite(scale) || !std::isfinite(shift)) {
      return std::nullopt;
    }
    to_level.push_back(scale);
    level_of_zero.push_back(shift);
  }
  for (size_t i = 0; i < output->low.size(); ++i) {
    to_value.push_back((output->high[i] - output->low[i]) / steps);
    if (!std::isfinite(to_value[i]) || !std::isfinite(output->low[i])) return std::nullopt;
  }
  ProgramMaker maker(model, node);
  maker.clip(*input);
  maker.scale("input", input->shape, to_level, level_of_zero);
  maker.round();
  maker.scale("output", output->shape, to_value, output->low);
  return maker.finish();
}

}  // namespace

Status lower_fake_quantize(Model& model) {
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    Node& node = *model.nodes()[k];
    if (node.op_type() != "FakeQuantize" || node.domain() != "het" || is_detached(node)) continue;
    const TensorDesc& desc = node.output()->desc();
    if (!desc.is_static() || desc.type != ElementType::Float32 || desc.shape.size() > 8 ||
        element_count(desc.shape) == 0) {
      continue;
    }
    std::optional<ElementwiseNode> made = rounding(model, node);
    if (!made) continue;
    replace(model, {&node, &node, "Elementwise", "het", std::move(made->operands),
                    to_attributes(made->program)});
  }
  return {};
}

}  // namespace het
