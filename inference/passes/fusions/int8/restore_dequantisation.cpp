#include <algorithm>
#include <cmath>

#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

constexpr int64_t kFloat = 1;  // ONNX TensorProto.DataType

/// Constant bytes behind a Cast to float32.
Value* stored_weights(const Value& value) {
  const Node* cast = value.producer();
  if (cast == nullptr || cast->op_type() != "Cast" || !cast->domain().empty() ||
      cast->attributes().get_int("to", 0) != kFloat) {
    return nullptr;
  }
  Value* stored = cast->input(0);
  if (stored == nullptr || !stored->is_constant()) return nullptr;
  const ElementType type = stored->constant().type();
  return type == ElementType::Int8 || type == ElementType::UInt8 ? stored : nullptr;
}

/// One factor, or one for each index of dimension 0.
bool is_scale(const Value& value, const Shape& weights) {
  if (!value.is_constant() || value.constant().type() != ElementType::Float32 ||
      value.constant().element_count() == 0) {
    return false;
  }
  const Shape shape = value.constant().shape();
  const int64_t count = value.constant().element_count();
  const bool fits =
      count == 1 ? shape.size() <= weights.size()
                 : shape.size() == weights.size() && shape[0] == count && count == weights[0];
  return fits && std::ranges::all_of(value.constant().values<float>(),
                                     [](float s) { return s > 0.0f && std::isfinite(s); });
}

void restore(Model& model, Node& node) {
  for (const size_t weights : {size_t{0}, size_t{1}}) {
    Value* stored = stored_weights(*node.input(weights));
    const Value* scale = node.input(1 - weights);
    if (stored == nullptr || !is_scale(*scale, stored->constant().shape())) continue;
    const auto factors = scale->constant().values<float>();
    const bool per_tensor = factors.size() == 1;
    const Shape shape = per_tensor ? Shape{} : Shape{static_cast<int64_t>(factors.size())};
    Value* list = model.add_constant(
        scale->name() + "/list",
        Tensor::from<float>(shape, std::vector<float>(factors.begin(), factors.end())));
    Attributes attributes;
    if (!per_tensor) attributes.set("axis", int64_t{0});
    replace(model, {&node, &node, "DequantizeLinear", "", {stored, list}, std::move(attributes)});
    return;
  }
}

}  // namespace

Status restore_dequantisation(Model& model) {
  const size_t count = model.nodes().size();
  for (size_t k = 0; k < count; ++k) {
    Node& node = *model.nodes()[k];
    if (node.op_type() == "Mul" && node.domain().empty() && !is_detached(node) &&
        node.inputs().size() == 2) {
      restore(model, node);
    }
  }
  return {};
}

}  // namespace het
