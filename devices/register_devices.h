#pragma once

#include <functional>
#include <memory>

#include "inference/base/visibility.h"
#include "inference/core.h"
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

}  // namespace het
