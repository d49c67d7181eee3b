#include "devices/cpu/plan/plan_builder.h"
#include "inference/base/registration.h"

namespace het::cpu {
namespace {

/// Other dimensions over the same row-major elements: nothing runs.
Result<bool> plan_view(PlanBuilder& builder, const Node& node) {
  const Value& from = *node.input(0);
  const Value& to = *node.output();
  if (from.is_constant() || from.desc().type != to.desc().type || node.outputs().size() > 1) {
    return false;
  }
  const ElementType type = builder.moved_type(from, to);
  HET_ASSIGN(const TensorId source, builder.read(from, Format::Plain, type));
  builder.write_view(to, {type, to.desc().shape, Format::Plain}, source, 0);
  return true;
}

}  // namespace

HET_REGISTRATION void register_view(KernelRegistry& registry) {
  for (const char* type : {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"}) {
    registry.add("", type, plan_view);
  }
}

}  // namespace het::cpu
