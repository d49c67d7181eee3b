#include "devices/cpu/plan/summed_step.h"

#include <utility>
#include <vector>

namespace het::cpu {

Status add_summed_step(PlanBuilder& builder, const Node& node, const Value* sum,
                       std::unique_ptr<Kernel> kernel, StepSide src, StepSide dst) {
  std::vector<TensorId> inputs(1);
  HET_ASSIGN(inputs[0], builder.read(*node.input(0), src.format, src.type));
  if (sum != nullptr) {
    HET_ASSIGN(inputs.emplace_back(), builder.read(*sum, dst.format, dst.type));
  }
  const Value& result = *node.output();
  const TensorId out = builder.write(result, {dst.type, result.desc().shape, dst.format});
  Step& step = builder.add_step(node, std::move(kernel), std::move(inputs), {out});
  if (sum != nullptr) {
    step.in_place = InPlace::Input;
    step.in_place_input = 1;
  }
  return {};
}

}  // namespace het::cpu
