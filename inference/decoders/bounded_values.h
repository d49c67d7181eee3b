#pragma once

#include <cstdint>
#include <optional>

#include "inference/model/model.h"

namespace het {

/// How many of the last values along `axis` a sigmoid or softmax has made, through what copies,
/// joins, cuts and turns them: scores of classes stand last in a row of an object, and points,
/// angles or weights of masks behind them have no such bound. Nothing where the graph does not
/// tell. `value` has inferred shapes.
std::optional<int64_t> bounded_tail(const Value& value, size_t axis);

/// How many of the last of several values that are joined along `axis` surely have no bound.
int64_t unbounded_tail(const Value& value, size_t axis);

}  // namespace het
