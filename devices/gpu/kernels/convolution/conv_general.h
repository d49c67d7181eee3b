#pragma once

#include "devices/gpu/kernels/convolution/convolution.h"

namespace het::gpu {

/// The definition, a work-item an output: any convolution, with weights that may be computed.
Status plan_general(PlanBuilder& builder, const Node& node, const Convolution& conv);

/// ConvInteger, which refuse_window() is not against: sums of bytes that wrap around in 32 bits.
Status plan_conv_integer(PlanBuilder& builder, const Node& node);

}  // namespace het::gpu
