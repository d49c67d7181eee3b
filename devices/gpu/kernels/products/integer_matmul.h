#pragma once

#include <string>

#include "devices/gpu/plan/plan_builder.h"

namespace het::gpu {

/// MatMul of whole numbers and MatMulInteger: sums that wrap around, in the type of the output.
std::string refuse_integer_matmul(const Node& node);
Status plan_integer_matmul(PlanBuilder& builder, const Node& node);

}  // namespace het::gpu
