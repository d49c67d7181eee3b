#pragma once

#include <memory>
#include <span>

#include "inference/base/status.h"
#include "inference/devices/device.h"
#include "inference/requests/infer_request.h"

namespace het::hetero {

/// A request whose inputs are zeros, to see how long it takes or whether it ends well. Inputs that
/// are sized at run time are left empty.
Result<std::unique_ptr<InferRequest>> zero_request(CompiledModel& model);

/// The middle of the seconds that `runs` executions take, after one that warms up; of several
/// requests those of all, one after the other.
Result<double> median_seconds(std::span<const std::unique_ptr<InferRequest>> requests, size_t runs);

}  // namespace het::hetero
