#pragma once

#include <memory>

#include "inference/core.h"
#include "inference/export.h"

namespace het {

/// The process' Core with all devices of this build registered; made when nobody holds it, freed
/// when the last holder lets go. Thread-safe. After fork() the child gets the parent's Core, whose
/// calls then fail with a clear error.
HET_API std::shared_ptr<Core> core();

/// Registers every device of this build, in the order in which they are listed to users.
HET_API void register_devices(Core& core);

}  // namespace het
