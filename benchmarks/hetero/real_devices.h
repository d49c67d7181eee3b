#pragma once

#include <cstddef>
#include <string>

#include "inference/base/status.h"
#include "inference/core.h"

namespace het::hetero {

/// What is measured of a model on `devices`, as "GPU,CPU".
struct RealDevices {
  std::string devices;
  std::string policy;   ///< this one only; empty: all
  size_t requests = 0;  ///< in flight for throughput; 0: what the compiled model advises
};

/// Prints what each device and HETERO under each policy take, in turns, in float32.
Status measure_real(Core& core, const std::string& path, const RealDevices& options);

/// Prints what three compiles in a row choose, nothing kept between them, timed in turns.
Status measure_repeats(Core& core, const std::string& path, const RealDevices& options);

}  // namespace het::hetero
