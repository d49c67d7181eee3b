#include <algorithm>

#include "inference/passes/fusions/int8/lowered_qlinear.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

/// Inputs: scale and zero point of the output, then each part with its own.
void lower_concat(Model& model, Node& node) {
  std::vector<Value*> parts;
  for (size_t i = 2; i < node.inputs().size(); i += 3) {
    parts.push_back(dequantised(model, node, i, "/part" + std::to_string(parts.size())));
  }
  Attributes attributes;
  attributes.set("axis", node.attributes().get_int("axis", 0));
  Value* joined = add_value(model, node, "/joined", "Concat", std::move(parts),
                            as_float(*node.output()), std::move(attributes));
  store_real(model, node, joined, 0);
}

bool is_static(const Node& node) {
  const auto known = [](const Value* value) {
    return value == nullptr || value->desc().is_static();
  };
  return std::all_of(node.inputs().begin(), node.inputs().end(), known) &&
         node.output()->desc().is_static();
}

}  // namespace

Status lower_qlinear_concat(Model& model) {
  const size_t count = model.nodes().size();
  for (size_t k = 0; k < count; ++k) {
    Node& node = *model.nodes()[k];
    if (is_detached(node) || node.domain() != "com.microsoft") continue;
    if (node.op_type() == "QLinearConcat" && is_static(node)) lower_concat(model, node);
  }
  return {};
}

}  // namespace het
