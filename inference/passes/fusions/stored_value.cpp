#include "inference/passes/fusions/stored_value.h"

#include <algorithm>
#include <cmath>

#include "inference/passes/fusions/constant_scale.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

std::optional<StoredValue> stored_value(const Node& node, Value* stored, const Value& real,
                                        Steps steps) {
  const TensorDesc& desc = stored->desc();
  const std::optional<ConstantScale> scale = constant_scale(node, 1);
  if (!scale || !desc.is_static() || real.desc().type != ElementType::Float32 ||
      (desc.type != ElementType::UInt8 && desc.type != ElementType::Int8) ||
      std::ranges::any_of(scale->scales,
                          [](float s) { return !(s > 0.0f) || !std::isfinite(s); })) {
    return std::nullopt;
  }
  StoredValue value{stored, scale->scales[0], {}, static_cast<int32_t>(scale->zeros[0])};
  if (scale->per_tensor()) return value;
  const Attributes& attributes = node.attributes();
  if (steps == Steps::PerTensor || desc.shape.size() != 4 || attributes.get_int("axis", 1) != 1 ||
      attributes.get_int("block_size", 0) != 0 || std::ssize(scale->scales) != desc.shape[1]) {
    return std::nullopt;
  }
  value.channel_scales = scale->scales;
  if (std::ranges::any_of(scale->zeros, [&](int64_t z) { return z != scale->zeros[0]; })) {
    value.channel_zeros.assign(scale->zeros.begin(), scale->zeros.end());
  }
  return value;
}

}  // namespace

std::optional<StoredValue> stored_behind(const Value& value, Steps steps) {
  const Node* node = value.producer();
  if (node == nullptr || node->op_type() != "DequantizeLinear" || is_detached(*node)) {
    return std::nullopt;
  }
  return stored_value(*node, node->input(0), value, steps);
}

std::optional<StoredValue> stored_by(const Node* node, Steps steps) {
  if (node == nullptr || node->op_type() != "QuantizeLinear" || is_detached(*node)) {
    return std::nullopt;
  }
  return stored_value(*node, node->output(), *node->input(0), steps);
}

const Node* dequantised_constant(const Value& value) {
  const Node* node = value.producer();
  while (node != nullptr && node->op_type() == "Reshape") {
    const Shape& from = node->input(0)->desc().shape;
    const Shape& to = node->output()->desc().shape;
    if (from.empty() || to.empty() || from[0] != to[0]) return nullptr;
    node = node->input(0)->producer();
  }
  const bool found = node != nullptr && node->op_type() == "DequantizeLinear" &&
                     node->input(0) != nullptr && node->input(0)->is_constant();
  return found ? node : nullptr;
}

bool same_steps(const StoredValue& a, const StoredValue& b) {
  return a.type() == b.type() && a.scale == b.scale && a.zero == b.zero;
}

}  // namespace het
