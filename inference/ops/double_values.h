#pragma once

#include <vector>

#include "inference/status.h"
#include "inference/tensor.h"

namespace het {

/// Values of a dense host tensor of floats or integers as double (int64 beyond 2^53 is rounded):
/// for small inputs such as scales, whose type may differ from the data's.
Result<std::vector<double>> to_double_vector(const Tensor& tensor);

}  // namespace het
