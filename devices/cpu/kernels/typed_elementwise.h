#pragma once

#include "devices/cpu/plan/plan_builder.h"

namespace het::cpu {

/// Plans binary operators and Where on types that elementwise programs do not know (whole numbers,
/// double, bool), and comparisons. False for what it does not know either.
Result<bool> plan_typed_elementwise(PlanBuilder& builder, const Node& node);

}  // namespace het::cpu
