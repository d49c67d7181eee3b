#pragma once

#include <optional>
#include <vector>

#include "inference/model/model.h"

namespace het {

/// Bytes that stand for float values: (stored - zero) * scale.
struct StoredValue {
  Value* stored = nullptr;
  float scale = 1.0f;
  /// One scale for each index of dimension 1; empty when `scale` is that of the whole tensor.
  std::vector<float> channel_scales = {};
  int32_t zero = 0;
  /// One for each channel where they differ, beside channel_scales; else empty.
  std::vector<int32_t> channel_zeros = {};
  ElementType type() const { return stored->desc().type; }
};

/// Whether scales, and zero points, may be those of channels.
enum class Steps : uint8_t { PerTensor, PerTensorOrChannel };

/// The bytes that a DequantizeLinear with constant scale makes this float value of.
std::optional<StoredValue> stored_behind(const Value& value, Steps steps = Steps::PerTensor);
/// What a QuantizeLinear with constant scale makes of a float value: its bytes, static.
std::optional<StoredValue> stored_by(const Node* node, Steps steps = Steps::PerTensor);
/// The DequantizeLinear of a constant that makes this value, perhaps with Reshapes in between that
/// leave dimension 0; null when there is none.
const Node* dequantised_constant(const Value& value);
/// True when both, each with one scale, have one type, scale and zero point.
bool same_steps(const StoredValue& a, const StoredValue& b);

}  // namespace het
