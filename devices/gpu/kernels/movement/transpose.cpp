#include "inference/ops/movement/transpose.h"
#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/plan/strided_move.h"
#include "devices/gpu/plan/strided_space.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

/// True when elements with these strides lie as `spec` says; dimensions of 1 need no stride.
bool lies_as(const std::vector<int64_t>& strides, const TensorSpec& spec) {
  const std::vector<int64_t> wanted = logical_strides(spec);
  for (size_t d = 0; d < wanted.size(); ++d) {
    if (spec.shape[d] != 1 && strides[d] != wanted[d]) return false;
  }
  return true;
}

/// Between NCHW and NHWC nothing moves: only the format changes.
Status plan_transpose(PlanBuilder& builder, const Node& node) {
  const Value& input = *node.input(0);
  const Value& output = *node.output();
  const Shape& shape = output.desc().shape;
  HET_ASSIGN(const std::vector<int64_t> perm,
             transpose_permutation(node.attributes(), static_cast<int64_t>(shape.size())));
  HET_ASSIGN(const TensorId from, builder.read(input, builder.home(input).format));
  const TensorSpec source = builder.tensor(from).spec;
  const std::vector<int64_t> strides = logical_strides(source);
  StridedMove move;
  move.dims = shape;
  for (const int64_t axis : perm) move.from.push_back(strides[static_cast<size_t>(axis)]);
  for (const Format format : {Format::Plain, Format::ChannelsLast}) {
    const TensorSpec spec{source.type, shape, format};
    if (format == Format::ChannelsLast && shape.size() < 3) continue;
    if (!lies_as(move.from, spec)) continue;
    builder.write_view(output, spec, from);
    return {};
  }
  const TensorId to = builder.write(output, Format::Plain);
  move.to = logical_strides(builder.tensor(to).spec);
  return add_move(builder, node, from, to, move);
}

}  // namespace

HET_REGISTRATION void register_transpose(KernelRegistry& registry) {
  registry.add("", "Transpose", {refuse_move, plan_transpose});
}

}  // namespace het::gpu
