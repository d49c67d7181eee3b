#pragma once

#include <cstddef>

#include "inference/devices/device.h"

namespace het::hetero {

/// How many requests a compiled model wants; at least 1.
size_t optimal_requests(const CompiledModel& model);

}  // namespace het::hetero
