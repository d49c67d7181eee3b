#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/plan/strided_move.h"
#include "devices/gpu/plan/strided_space.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

struct Side {
  TensorId id = kNoTensor;
  std::vector<int64_t> strides;
};

/// Reads and writes in the format of the input.
Result<std::pair<Side, Side>> sides_of(PlanBuilder& builder, const Node& node) {
  const Value& input = *node.input(0);
  HET_ASSIGN(const TensorId from, builder.read(input, builder.home(input).format));
  const TensorId to = builder.write(*node.output(), builder.tensor(from).spec.format);
  return std::pair{Side{from, logical_strides(builder.tensor(from).spec)},
                   Side{to, logical_strides(builder.tensor(to).spec)}};
}

/// Both operators see the deep tensor's channels as [block row, block column, c] (DCR) or [c,
/// block row, block column] (CRD) and the wide one's rows as [h, block row].
Status plan_blocks(PlanBuilder& builder, const Node& node) {
  const bool to_space = node.op_type() == "DepthToSpace";
  const int64_t block = node.attributes().get_int("blocksize", 1);
  const bool channels_first = node.attributes().get_string("mode", "DCR") == "CRD";
  HET_ASSIGN(const auto sides, sides_of(builder, node));
  const auto& [from, to] = sides;
  const Shape& wide_shape = (to_space ? node.output() : node.input(0))->desc().shape;
  const std::vector<int64_t>& wide = to_space ? to.strides : from.strides;
  const std::vector<int64_t>& deep = to_space ? from.strides : to.strides;
  const int64_t c = wide_shape[1];
  const int64_t channel_step = channels_first ? block * block * deep[1] : deep[1];
  const int64_t column_step = channels_first ? deep[1] : c * deep[1];
  // Loops: n, c, h, block row, w, block column.
  const std::vector<int64_t> wide_strides{wide[0], wide[1],         wide[2] * block,
                                          wide[2], wide[3] * block, wide[3]};
  const std::vector<int64_t> deep_strides{deep[0], channel_step, deep[2], block * column_step,
                                          deep[3], column_step};
  StridedMove move;
  move.dims = {wide_shape[0], c, wide_shape[2] / block, block, wide_shape[3] / block, block};
  move.from = to_space ? deep_strides : wide_strides;
  move.to = to_space ? wide_strides : deep_strides;
  return add_move(builder, node, from.id, to.id, move);
}

/// Channel j * groups + g of the result is channel g * (c / groups) + j.
Status plan_shuffle(PlanBuilder& builder, const Node& node) {
  const int64_t groups = node.attributes().get_int("group", 1);
  HET_ASSIGN(const auto sides, sides_of(builder, node));
  const auto& [from, to] = sides;
  const Shape& shape = node.output()->desc().shape;
  const int64_t members = shape[1] / groups;
  StridedMove move;
  move.dims = {shape[0], members, groups};
  move.from = {from.strides[0], from.strides[1], members * from.strides[1]};
  move.to = {to.strides[0], groups * to.strides[1], to.strides[1]};
  for (size_t d = 2; d < shape.size(); ++d) {
    move.dims.push_back(shape[d]);
    move.from.push_back(from.strides[d]);
    move.to.push_back(to.strides[d]);
  }
  return add_move(builder, node, from.id, to.id, move);
}

}  // namespace

HET_REGISTRATION void register_depth_to_space(KernelRegistry& registry) {
  registry.add("", "DepthToSpace", {refuse_move, plan_blocks});
  registry.add("", "SpaceToDepth", {refuse_move, plan_blocks});
  registry.add("het", "ChannelShuffle", {refuse_move, plan_shuffle});
}

}  // namespace het::gpu
