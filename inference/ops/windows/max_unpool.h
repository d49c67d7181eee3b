#pragma once

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/tensors/shape.h"

namespace het {

/// The shape that MaxUnpool's indices count in, for an input of static shape `x`: that of the
/// pooling's input as far as its output tells it. Checks the attributes.
Result<Shape> unpooled_shape(const Node& node, const Shape& x);

}  // namespace het
