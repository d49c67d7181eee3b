#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/plan/strided_move.h"
#include "devices/gpu/plan/strided_space.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

/// Repeats are loops in which the source stands still.
Status plan_expand(PlanBuilder& builder, const Node& node) {
  const Value& input = *node.input(0);
  const Shape& shape = node.output()->desc().shape;
  const bool same_rank = input.desc().shape.size() == shape.size();
  const Format format = same_rank ? builder.home(input).format : Format::Plain;
  HET_ASSIGN(const TensorId from, builder.read(input, format));
  const TensorId to = builder.write(*node.output(), format);
  const TensorSpec source = builder.tensor(from).spec;
  const TensorSpec target = builder.tensor(to).spec;
  StridedMove move{physical_dims(target), broadcast_strides(source, shape, target.format),
                   row_major_strides(physical_dims(target))};
  return add_move(builder, node, from, to, move);
}

/// Every dimension is a loop over repeats around one over the source.
Status plan_tile(PlanBuilder& builder, const Node& node) {
  const Value& input = *node.input(0);
  HET_ASSIGN(const TensorId from, builder.read(input, builder.home(input).format));
  const TensorSpec source = builder.tensor(from).spec;
  const TensorId to = builder.write(*node.output(), source.format);
  const TensorSpec target = builder.tensor(to).spec;
  const std::vector<int64_t> from_strides = logical_strides(source);
  const std::vector<int64_t> to_strides = logical_strides(target);
  StridedMove move;
  for (size_t d = 0; d < source.shape.size(); ++d) {
    const int64_t repeats = target.shape[d] / source.shape[d];
    move.dims.insert(move.dims.end(), {repeats, source.shape[d]});
    move.from.insert(move.from.end(), {0, from_strides[d]});
    move.to.insert(move.to.end(), {source.shape[d] * to_strides[d], to_strides[d]});
  }
  return add_move(builder, node, from, to, move);
}

}  // namespace

HET_REGISTRATION void register_expand(KernelRegistry& registry) {
  registry.add("", "Expand", {refuse_move, plan_expand});
  registry.add("", "Tile", {refuse_move, plan_tile});
}

}  // namespace het::gpu
