#pragma once

#include <span>
#include <vector>

#include "inference/base/status.h"
#include "inference/tensors/tensor.h"

namespace het {

/// Values of a dense host tensor of floats, integers or bool as double (int64 beyond 2^53 is
/// rounded):
/// for small inputs such as scales, whose type may differ from the data's.
Result<std::vector<double>> to_double_vector(const Tensor& tensor);

/// Fills a dense host tensor of floats, integers or bool with as many values, by numeric_cast().
Status store_doubles(std::span<const double> values, Tensor& dst);

}  // namespace het
