#pragma once

#include <string>

#include "devices/gpu/kernels/convolution/convolution.h"

namespace het::gpu {

/// Why conv_depthwise.cl cannot run it; empty when it can.
std::string refuse_depthwise(const PlanBuilder& builder, const Convolution& conv);

/// One launch with vectors over the channels.
Status plan_depthwise(PlanBuilder& builder, const Node& node, const Convolution& conv);

}  // namespace het::gpu
