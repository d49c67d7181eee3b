#include "inference/passes/fusions/int8/byte_elementwise.h"

#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/fusions/stored_value.h"

namespace het {
namespace {

ByteSteps steps_of(const StoredValue& value) {
  return {value.scale, value.zero};
}

/// What an operand is made of: bytes behind DequantizeLinear, or the sums of integer products,
/// which a Cast makes floats.
std::optional<StoredValue> source_of(const Value& operand) {
  const Node* const cast = operand.producer();
  if (!is_op(cast, "Cast")) return stored_behind(operand);
  const TensorDesc& desc = cast->input(0)->desc();
  if (desc.type != ElementType::Int32 || !desc.is_static()) return std::nullopt;
  return StoredValue{cast->input(0)};
}

/// Beyond these a device may have no kernel for the node that replaces one of ONNX.
constexpr size_t kMostDimensions = 8;

void take_quantisation(Model& model, Node& node) {
  if (is_detached(node)) return;
  const std::optional<ElementwiseNode> found = elementwise_of(node);
  if (!found || node.output()->desc().shape.size() > kMostDimensions) return;
  ByteElementwise made{found->program, {}, {}};
  std::vector<Value*> inputs;
  bool has_bytes = false;
  for (Value* operand : found->operands) {
    const std::optional<StoredValue> src = source_of(*operand);
    made.operands.push_back(src ? steps_of(*src) : ByteSteps());
    inputs.push_back(src ? src->stored : operand);
    has_bytes = has_bytes || src;
  }
  Node* last = &node;
  Node* quantise = only_reader(model, *node.output());
  const std::optional<StoredValue> dst = stored_by(quantise);
  if (dst) {
    made.result = steps_of(*dst);
    last = quantise;
    has_bytes = true;
  }
  if (!has_bytes) return;
  replace(model, {&node, last, "ElementwiseBytes", "het", std::move(inputs), to_attributes(made)});
}

}  // namespace

std::optional<ByteElementwise> byte_elementwise_of(const Node& node) {
  if (node.domain() != "het" || node.op_type() != "ElementwiseBytes") return std::nullopt;
  const Attributes& a = node.attributes();
  const auto program = elementwise_program(a, node.inputs().size());
  const std::vector<float> scales = a.get_floats("src_scales");
  const std::vector<int64_t> zeros = a.get_ints("src_zeros");
  if (!program || scales.size() != program->operands || zeros.size() != scales.size()) {
    return std::nullopt;
  }
  ByteElementwise found{*program, {}, {}};
  for (size_t i = 0; i < scales.size(); ++i) {
    found.operands.push_back({scales[i], static_cast<int32_t>(zeros[i])});
  }
  found.result = {a.get_float("dst_scale", 0.0f), static_cast<int32_t>(a.get_int("dst_zero", 0))};
  return found;
}

Attributes to_attributes(const ByteElementwise& expression) {
  Attributes attributes = to_attributes(expression.program);
  std::vector<float> scales;
  std::vector<int64_t> zeros;
  for (const ByteSteps& steps : expression.operands) {
    scales.push_back(steps.scale);
    zeros.push_back(steps.zero);
  }
  attributes.set("src_scales", std::move(scales));
  attributes.set("src_zeros", std::move(zeros));
  if (!expression.result.is_float()) {
    attributes.set("dst_scale", expression.result.scale);
    attributes.set("dst_zero", int64_t{expression.result.zero});
  }
  return attributes;
}

Status fuse_byte_elementwise(Model& model) {
  const size_t count = model.nodes().size();  // new nodes come last
  for (size_t k = 0; k < count; ++k) take_quantisation(model, *model.nodes()[k]);
  return {};
}

}  // namespace het
