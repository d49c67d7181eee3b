#pragma once

#include <memory>

#include "devices/cpu/formats/kernel.h"
#include "devices/cpu/plan/plan_builder.h"

namespace het::cpu {

/// How a step reads or writes a value.
struct StepSide {
  Format format = Format::Plain;
  ElementType type = ElementType::Float32;
};

/// The step of a node whose kernel reads the node's first input as `src` and, unless it is null,
/// `sum`, which lies as the result does: as `dst`. The result may take the place of what is added.
Status add_summed_step(PlanBuilder& builder, const Node& node, const Value* sum,
                       std::unique_ptr<Kernel> kernel, StepSide src, StepSide dst);

}  // namespace het::cpu
