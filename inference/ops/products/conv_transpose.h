#pragma once

#include <cstdint>

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/ops/windows/window.h"
#include "inference/tensors/shape.h"

namespace het {

/// ConvTranspose. The output covers stride * (in - 1) + extent positions per dimension, from which
/// pads_begin are cut at the front and pads_end at the end; a negative pads_end (from
/// output_padding or output_shape) adds positions that no input reaches unless the kernel does.
struct ConvTransposeAttributes : Window {
  int64_t group = 1;
  Shape output_shape;  ///< [n, oc, spatial...]
};

/// `x` is [n, ic, spatial...], `w` is [ic, oc / group, kernel...], both static.
Result<ConvTransposeAttributes> conv_transpose_attributes(const Node& node, const Shape& x,
                                                          const Shape& w);

}  // namespace het
