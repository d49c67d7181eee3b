#pragma once

#include "devices/gpu/plan_builder.h"

namespace het::gpu {

/// Adds steps that find the `k` largest of every row of `keys`, UInt64 [rows, length]: the result
/// is [rows, k], the largest first. Keys of 0 stand for nothing and fill the rest; all others must
/// differ.
Result<TensorId> select_keys(PlanBuilder& builder, const Node& node, TensorId keys, int64_t rows,
                             int64_t length, int64_t k);

}  // namespace het::gpu
