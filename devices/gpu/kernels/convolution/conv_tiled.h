#pragma once

#include "devices/gpu/kernels/convolution/conv_direct.h"

namespace het::gpu {

/// Whether problems of conv_direct.h run on conv_tiled.cl: on GPUs, and where
/// PlanOptions::local_tiles asks for it.
bool uses_tiles(const PlanBuilder& builder);

/// The same as add_direct() with tiles in local memory.
Status add_tiled(PlanBuilder& builder, const Node& node, const Convolution& conv,
                 const DirectProblem& problem, const DirectOperands& operands);

}  // namespace het::gpu
