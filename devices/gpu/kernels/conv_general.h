#pragma once

#include "devices/gpu/kernels/convolution.h"

namespace het::gpu {

/// The definition, a work-item an output: any convolution, with weights that may be computed.
Status plan_general(PlanBuilder& builder, const Node& node, const Convolution& conv);

}  // namespace het::gpu
