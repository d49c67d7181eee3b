#include "inference/ops/movement/slice.h"
#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/plan/strided_move.h"
#include "devices/gpu/plan/strided_space.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

std::string refuse_slice(const Node& node) {
  for (size_t i = 1; i < node.inputs().size(); ++i) {
    if (node.input(i) != nullptr && !node.input(i)->is_constant()) {
      return "its starts, ends, axes and steps must be constants";
    }
  }
  return refuse_move(node);
}

/// The source in its own format; the part keeps it.
Result<TensorId> read_source(PlanBuilder& builder, const Node& node) {
  return builder.read(*node.input(0), builder.home(*node.input(0)).format);
}

Status plan_slice(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const TensorId from, read_source(builder, node));
  const TensorSpec source = builder.tensor(from).spec;
  HET_ASSIGN(
      const SliceRange range,
      slice_range(source.shape, *constant_or_null(node.input(1)), *constant_or_null(node.input(2)),
                  constant_or_null(node.input(3)), constant_or_null(node.input(4))));
  const TensorId to = builder.write(*node.output(), source.format);
  StridedMove move{range.shape, logical_strides(source), logical_strides(builder.tensor(to).spec)};
  for (size_t d = 0; d < move.from.size(); ++d) {
    move.from_offset += range.starts[d] * move.from[d];
    // A single element needs no step, which may be too large to multiply.
    move.from[d] = range.shape[d] == 1 ? 0 : move.from[d] * range.steps[d];
  }
  return add_move(builder, node, from, to, move);
}

/// The parts lie in the order of the outputs, whose shapes say how long they are.
Status plan_split(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const TensorId from, read_source(builder, node));
  const TensorSpec source = builder.tensor(from).spec;
  HET_ASSIGN(const int64_t axis, normalize_axis(node.attributes().get_int("axis", 0),
                                                static_cast<int64_t>(source.shape.size())));
  StridedMove move;
  move.from = logical_strides(source);
  for (const Value* part : node.outputs()) {
    const TensorId to = builder.write(*part, source.format);
    move.dims = part->desc().shape;
    move.to = logical_strides(builder.tensor(to).spec);
    HET_TRY(add_move(builder, node, from, to, move));
    move.from_offset += move.dims[static_cast<size_t>(axis)] * move.from[static_cast<size_t>(axis)];
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_slice(KernelRegistry& registry) {
  registry.add("", "Slice", {refuse_slice, plan_slice});
  registry.add("", "Split", {refuse_move, plan_split});
}

}  // namespace het::gpu
