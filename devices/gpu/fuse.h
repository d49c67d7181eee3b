#pragma once

#include "inference/base/status.h"
#include "inference/model/model.h"

namespace het::gpu {

/// The rewrites of the GPU device, in order, on a prepared model. Leaves every value's desc known
/// that was known before. With `int8`, products of quantised values run on int8 kernels; else all
/// is computed in float, rounded where the model says so.
Status fuse(Model& model, bool int8 = false);

}  // namespace het::gpu
