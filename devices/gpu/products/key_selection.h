#pragma once

#include "devices/gpu/plan/plan_builder.h"

namespace het::gpu {

/// How many 64-bit numbers a key is: two are compared one after the other.
enum class KeyWidth : int64_t { One = 1, Two = 2 };

/// Adds steps that find the `k` largest of every row of `keys`, UInt64 [rows, length * width]: the
/// result is [rows, k * width], the largest first. Keys whose last number is 0 stand for nothing
/// and fill the rest; all others must differ.
Result<TensorId> select_keys(PlanBuilder& builder, const Node& node, TensorId keys, int64_t rows,
                             int64_t length, int64_t k, KeyWidth width = KeyWidth::One);

}  // namespace het::gpu
