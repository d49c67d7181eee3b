#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/plan/strided_move.h"
#include "devices/gpu/plan/strided_space.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

/// Every part that its producer did not put there is copied to its place.
Status plan_concat(PlanBuilder& builder, const Node& node) {
  const Value& output = *node.output();
  const auto rank = static_cast<int64_t>(output.desc().shape.size());
  HET_ASSIGN(const int64_t axis, normalize_axis(node.attributes().get_int("axis", 0), rank));
  TensorId to = kNoTensor;
  if (builder.is_declared(output)) {
    HET_ASSIGN(to, builder.read_home(output));
  } else {
    to = builder.write(output, format_of_any(builder, node.inputs()));
  }
  const TensorSpec target = builder.tensor(to).spec;
  StridedMove move;
  move.to = logical_strides(target);
  for (const Value* part : node.inputs()) {
    const Shape& dims = part->desc().shape;
    if (element_count(dims) == 0) continue;
    if (!builder.is_joined(*part)) {
      HET_ASSIGN(const TensorId from, builder.read(*part, target.format));
      move.dims = dims;
      move.from = logical_strides(builder.tensor(from).spec);
      HET_TRY(add_move(builder, node, from, to, move));
    }
    move.to_offset += dims[static_cast<size_t>(axis)] * move.to[static_cast<size_t>(axis)];
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_concat(KernelRegistry& registry) {
  registry.add("", "Concat", {refuse_move, plan_concat});
}

}  // namespace het::gpu
