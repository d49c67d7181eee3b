#pragma once

#include "devices/gpu/plan/custom_layers.h"
#include "devices/gpu/plan/plan_builder.h"

namespace het::gpu {

/// The kernel of the user's for a node; null for none.
const CustomLayer* custom_layer_of(const CustomLayers* layers, const Node& node);

/// Why the layer does not fit the node; empty when it does.
std::string refuse_custom(const CustomLayer& layer, const Node& node);

/// Adds the node's step. The kernel gets float32 whatever floats are stored in.
Status plan_custom(PlanBuilder& builder, const CustomLayer& layer, const Node& node);

}  // namespace het::gpu
