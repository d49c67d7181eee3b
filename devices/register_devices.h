#pragma once

#include <functional>
#include <memory>

#include "inference/base/visibility.h"
#include "inference/core.h"
#include "inference/devices/device_trials.h"
#include "inference/tensors/surface_access.h"

namespace het {

/// The process' Core with all devices of this build registered; made when nobody holds it, freed
/// when the last holder lets go. Thread-safe. After fork() the child gets the parent's Core, whose
/// calls then fail with a clear error.
HET_API std::shared_ptr<Core> core();

/// Registers every device of this build, in the order in which they are listed to users.
HET_API void register_devices(Core& core);

/// Pictures of the surfaces of an application's VADisplay, which stays open until `release` has
/// run: with the last user of the result or of a picture of it, or at once after a failure. Fails
/// with NotSupported in a build without libva.
HET_API Result<std::shared_ptr<SurfaceAccess>> surface_access(void* va_display,
                                                              std::function<void()> release);

// For the self-test of `hetero devices`. All of them call drivers, which may crash or hang: they
// belong into a process of their own.

/// Everything that the OpenCL loader finds, whether or not it counts as GPU.
HET_API DeviceListing list_gpu_drivers();
/// Tries the extensions of a device, by its place in list_gpu_drivers(). Fails when the device
/// cannot be opened.
HET_API Result<std::vector<FeatureTrial>> try_gpu_features(size_t listed);
/// What "GPU" or "GPU.1" does at best; each limit is measured for so long. Fails with NotSupported
/// for other devices.
HET_API Result<DeviceLimits> measure_device_limits(std::string_view device, double seconds);
/// The system's render nodes, with what their video drivers (VA) can do.
HET_API std::vector<std::string> video_nodes();
HET_API DisplayTrial try_video_node(const std::string& node);

}  // namespace het
