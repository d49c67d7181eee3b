#pragma once

#include "inference/model.h"
#include "inference/status.h"

namespace het::cpu {

/// The rewrites of the CPU device, in order, on a prepared model: batch normalisation and scales
/// into weights, padding into convolutions, activations, sums and element-wise chains into fused
/// nodes of the domain het. Leaves every value's desc known that was known before.
/// With `int8`, products of quantised values run on int8 kernels; else all is computed in float,
/// rounded where the model says so.
Status fuse(Model& model, bool int8);

}  // namespace het::cpu
