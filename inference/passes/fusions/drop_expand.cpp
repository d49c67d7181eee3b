#include <algorithm>
#include <array>
#include <string_view>

#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

/// Operators that repeat operands of fewer elements by themselves.
bool repeats_operands(const Node& node) {
  static constexpr std::array<std::string_view, 16> kTypes = {
      "Add",  "And",         "Div", "Equal", "Greater", "GreaterOrEqual",
      "Less", "LessOrEqual", "Max", "Min",   "Mod",     "Mul",
      "Or",   "Pow",         "Sub", "Where"};
  return node.domain().empty() && !is_detached(node) &&
         std::find(kTypes.begin(), kTypes.end(), node.op_type()) != kTypes.end();
}

/// What the reader gives when it reads `src` wherever it read `expanded`.
bool keeps_shape(const Node& reader, const Value& expanded, const Value& src) {
  Shape shape;
  for (const Value* input : reader.inputs()) {
    if (input == nullptr) continue;
    const TensorDesc& desc = input == &expanded ? src.desc() : input->desc();
    if (!desc.is_static()) return false;
    const Result<Shape> wider = broadcast(shape, desc.shape);
    if (!wider) return false;
    shape = *wider;
  }
  const TensorDesc& result = reader.output()->desc();
  return result.is_static() && shape == result.shape;
}

}  // namespace

Status drop_expand(Model& model) {
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    Node* const expand = model.nodes()[k].get();
    if (!is_op(expand, "Expand") || !expand->input(0)->desc().is_static()) continue;
    Value* const src = expand->input(0);
    Value* const expanded = expand->output();
    const std::vector<Node*> readers = expanded->consumers();
    for (Node* const reader : readers) {
      if (!repeats_operands(*reader) || !keeps_shape(*reader, *expanded, *src)) continue;
      for (size_t i = 0; i < reader->inputs().size(); ++i) {
        if (reader->input(i) == expanded) model.set_input(reader, i, src);
      }
    }
  }
  return {};
}

}  // namespace het
