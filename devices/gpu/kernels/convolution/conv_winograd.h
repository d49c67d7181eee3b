#pragma once

#include <string>

#include "devices/gpu/kernels/convolution/convolution.h"

namespace het::gpu {

/// Why conv_winograd.cl cannot run it; empty when it can. Half storage is refused: what is between
/// the transforms needs float32.
std::string refuse_winograd(const PlanBuilder& builder, const Convolution& conv);

/// The fixed rule: 2 or 4 outputs a tile and dimension where that saves time; 0 where the direct
/// algorithm is faster, cannot be beaten safely, or PlanOptions::fast_algorithms is off.
int64_t winograd_tile(const PlanBuilder& builder, const Convolution& conv);

/// F(m x m, 3x3), m is 2 or 4: transform, products, transform.
Status plan_winograd(PlanBuilder& builder, const Node& node, const Convolution& conv, int64_t m);

}  // namespace het::gpu
