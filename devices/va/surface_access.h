#pragma once

#include <functional>
#include <memory>

#include "inference/base/status.h"
#include "inference/tensors/surface_access.h"

namespace het::va {

/// Pictures of the surfaces of `va_display`, which its owner has initialised and closes after
/// `release` has run. Fails with NotSupported in a build without libva.
Result<std::shared_ptr<SurfaceAccess>> make_surface_access(void* va_display,
                                                           std::function<void()> release);

}  // namespace het::va
