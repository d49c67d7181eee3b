#include "devices/gpu/plan/plan_builder.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

std::string refuse_view(const Node& node) {
  const bool same_type = node.input(0)->desc().type == node.output()->desc().type;
  return same_type && node.outputs().size() == 1 ? "" : "it changes the type";
}

/// Other dimensions over the same row-major elements: nothing runs.
Status plan_view(PlanBuilder& builder, const Node& node) {
  const Value& to = *node.output();
  HET_ASSIGN(const TensorId source, builder.read(*node.input(0), Format::Plain));
  builder.write_view(to, {builder.tensor(source).spec.type, to.desc().shape, Format::Plain},
                     source);
  return {};
}

std::string refuse_bit_cast(const Node& node) {
  if (node.output()->desc().type == ElementType::Bool) return "a bool is 0 or 1, not any bits";
  return {};
}

/// The same bits as another type, whatever floats are stored as.
Status plan_bit_cast(PlanBuilder& builder, const Node& node) {
  const Value& from = *node.input(0);
  const TensorDesc& to = node.output()->desc();
  HET_ASSIGN(const TensorId source, builder.read(from, Format::Plain, from.desc().type));
  builder.write_view(*node.output(), {to.type, to.shape, Format::Plain}, source);
  return {};
}

}  // namespace

HET_REGISTRATION void register_view(KernelRegistry& registry) {
  for (const char* type : {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"}) {
    registry.add("", type, {refuse_view, plan_view});
  }
  registry.add("", "BitCast", {refuse_bit_cast, plan_bit_cast});
}

}  // namespace het::gpu
