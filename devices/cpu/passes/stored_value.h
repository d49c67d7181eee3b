#pragma once

#include <optional>

#include "inference/model.h"

namespace het::cpu {

/// Bytes that stand for float values: (stored - zero) * scale.
struct StoredValue {
  Value* stored = nullptr;
  float scale = 1.0f;
  int32_t zero = 0;
  ElementType type() const { return stored->desc().type; }
};

/// The bytes that a DequantizeLinear with one constant scale makes this float value of.
std::optional<StoredValue> stored_behind(const Value& value);
/// What a QuantizeLinear with one constant scale makes of a float value: its bytes, static.
std::optional<StoredValue> stored_by(const Node* node);
/// True when both have one type, scale and zero point.
bool same_steps(const StoredValue& a, const StoredValue& b);

}  // namespace het::cpu
