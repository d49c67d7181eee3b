#pragma once

#include "inference/model.h"
#include "inference/status.h"

namespace het::cpu {

/// The rewrites of the CPU device, in order, on a prepared model: batch normalisation and scales
/// into weights, padding into convolutions, activations, sums and element-wise chains into fused
/// nodes of the domain het. Leaves every value's desc known that was known before.
Status fuse(Model& model);

}  // namespace het::cpu
