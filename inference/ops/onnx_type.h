#pragma once

#include <cstdint>

#include "inference/base/status.h"
#include "inference/tensors/element_type.h"

namespace het {

/// The type that a number of ONNX' TensorProto.DataType stands for, as used in attributes such as
/// Cast's `to`. Fails with NotSupported for strings and complex numbers, ParseError otherwise.
Result<ElementType> element_type_from_onnx(int64_t code);

/// The number of TensorProto.DataType for a type; 0 for Undefined.
int64_t onnx_type_code(ElementType type);

}  // namespace het
