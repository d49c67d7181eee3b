#pragma once

#include <cstdint>

#include "inference/base/status.h"
#include "inference/tensors/shape.h"

namespace het {

/// A dense array seen as [outer, length, inner] around an axis: element (o, i, n) lies at
/// (o * length + i) * inner + n.
struct AxisSplit {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
};

/// Splits at `axis` in [-rank, rank); fails outside. A scalar has no axis.
Result<AxisSplit> axis_split(const Shape& shape, int64_t axis);

/// Splits into [dimensions before axis, dimensions from axis on]; axis in [-rank, rank].
Result<AxisSplit> flatten_from(const Shape& shape, int64_t axis);

}  // namespace het
