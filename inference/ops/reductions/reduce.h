#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/tensors/shape.h"
#include "inference/tensors/tensor.h"

namespace het {

enum class ReduceKind { Mean, Sum, Max, Min, Prod, L1, L2, LogSum, LogSumExp, SumSquare };

/// ReduceMean ... of domain "", or nothing when it is not such an operator.
std::optional<ReduceKind> reduce_kind(std::string_view op_type);

/// A reduction with axes, keepdims and noop_with_empty_axes resolved.
struct ReduceAttributes {
  ReduceKind kind = ReduceKind::Sum;
  /// Sorted, in [0, rank). Empty: every element is reduced alone (a scalar, or a no-op wish), which
  /// still applies the expression, e.g. the absolute value of ReduceL1.
  std::vector<int64_t> axes;
  bool keepdims = true;
  Shape output_shape;
};

/// `axes` is the content of input 1, or null when the node has none.
Result<ReduceAttributes> reduce_attributes(const Node& node, const Shape& x, const Tensor* axes);

}  // namespace het
