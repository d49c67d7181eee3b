#pragma once

#include <vector>

#include "inference/base/status.h"
#include "inference/devices/device_trials.h"

namespace het::gpu {

/// Everything that the OpenCL loader finds, GPUs first, and the drivers that it was given: each is
/// opened to see whether it loads. No context is made.
DeviceListing list_devices();

/// Which of the extensions that kernels use, or could, the listed device names, and whether the
/// probes of memory/probes confirm them. Fails when the device cannot be opened.
Result<std::vector<FeatureTrial>> try_features(size_t listed);

/// Measures the device "GPU" (0) or "GPU.1", each limit for so long.
Result<DeviceLimits> measure_limits(size_t index, double seconds);

}  // namespace het::gpu
