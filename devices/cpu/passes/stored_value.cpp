#include "devices/cpu/passes/stored_value.h"

#include <cmath>

#include "devices/cpu/constant_scale.h"
#include "devices/cpu/passes/rewrite.h"

namespace het::cpu {
namespace {

std::optional<StoredValue> stored_value(const Node& node, Value* stored, const Value& real) {
  const ElementType type = stored->desc().type;
  const std::optional<ConstantScale> scale = tensor_scale(node, 1);
  if (!scale || !stored->desc().is_static() || real.desc().type != ElementType::Float32 ||
      (type != ElementType::UInt8 && type != ElementType::Int8) || !(scale->scales[0] > 0.0f) ||
      !std::isfinite(scale->scales[0])) {
    return std::nullopt;
  }
  return StoredValue{stored, scale->scales[0], static_cast<int32_t>(scale->zeros[0])};
}

}  // namespace

std::optional<StoredValue> stored_behind(const Value& value) {
  const Node* node = value.producer();
  if (node == nullptr || node->op_type() != "DequantizeLinear" || is_detached(*node)) {
    return std::nullopt;
  }
  return stored_value(*node, node->input(0), value);
}

std::optional<StoredValue> stored_by(const Node* node) {
  if (node == nullptr || node->op_type() != "QuantizeLinear" || is_detached(*node)) {
    return std::nullopt;
  }
  return stored_value(*node, node->output(), *node->input(0));
}

bool same_steps(const StoredValue& a, const StoredValue& b) {
  return a.type() == b.type() && a.scale == b.scale && a.zero == b.zero;
}

}  // namespace het::cpu
