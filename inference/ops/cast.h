#pragma once

#include "inference/status.h"
#include "inference/tensor.h"

namespace het {

/// Converts all elements of a dense host tensor by numeric_cast()'s rules; shapes and element
/// counts must agree. Fails with NotSupported on types other than numbers and bool.
Status cast_elements(const Tensor& src, Tensor& dst);

}  // namespace het
