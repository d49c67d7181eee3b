#pragma once

#include "devices/cpu/plan/plan.h"

namespace het::cpu {

/// Lets concatenations and in-place steps share memory where lifetimes allow, then places every
/// tensor of the arena and sets the plan's sizes.
void plan_memory(Plan& plan);

}  // namespace het::cpu
