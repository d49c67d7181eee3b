#pragma once

#include <cstddef>

#include "inference/model/model.h"
#include "inference/tensors/element_type.h"

namespace het::cpu {

/// False when a value of a float type is NaN or an infinity; true for other types. Runs on the
/// calling stream's team.
bool all_finite(ElementType type, const std::byte* data, int64_t count);

/// True when a node with finite operands may give NaN or an infinity, other than by sums and
/// products beyond what floats hold. What it does not know may.
bool may_leave_finite(const Node& node);

}  // namespace het::cpu
