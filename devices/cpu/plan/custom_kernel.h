#pragma once

#include "devices/cpu/plan/plan_builder.h"

namespace het::cpu {

/// Plans a node whose operator comes from a user's library; false for other nodes.
Result<bool> plan_custom(PlanBuilder& builder, const Node& node);

}  // namespace het::cpu
