#pragma once

#include <cstdint>

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/ops/windows/window.h"
#include "inference/tensors/shape.h"

namespace het {

/// MaxPool, AveragePool, LpPool, their Global forms (kernel = all spatial dimensions) and
/// com.microsoft.QLinearAveragePool, with auto_pad resolved and everything checked.
struct PoolAttributes : Window {
  bool ceil_mode = false;
  bool count_include_pad = false;
  bool column_major_indices = false;  ///< MaxPool's storage_order
  int64_t p = 2;                      ///< norm of LpPool
  Shape output_shape;                 ///< [n, c, spatial...]
};

/// `x` is [n, c, spatial...], static, of rank 3 to 5. With ceil_mode the last window may reach past
/// the end padding.
Result<PoolAttributes> pool_attributes(const Node& node, const Shape& x);

}  // namespace het
