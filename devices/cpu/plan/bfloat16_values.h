#pragma once

#include <unordered_set>

#include "inference/model/model.h"

namespace het::cpu {

/// The values that a plan in bfloat16 keeps in that type: float values that no model output shows,
/// as they are or as a transformer's stream behind a last normalisation, and whose readers all
/// compute in bfloat16 (convolutions with constant weights, products, attention), widen it as they
/// go (chains of expressions, pooling, norms and extremes, normalisations), or pass it on to a
/// value of the same kind (parts, concatenations, other shapes and orders). Nodes in the order of
/// their execution.
std::unordered_set<const Value*> bfloat16_values(const Model& model);

}  // namespace het::cpu
