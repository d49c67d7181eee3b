#pragma once

#include "inference/model.h"
#include "inference/status.h"

namespace het::gpu {

/// The rewrites of the GPU device, in order, on a prepared model. Leaves every value's desc known
/// that was known before.
Status fuse(Model& model);

}  // namespace het::gpu
