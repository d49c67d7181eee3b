#include "devices/gpu/kernels/convolution/conv_tiled.h"

#include "devices/gpu/plan/launches.h"

namespace het::gpu {
namespace {

/// Pixels, channels and work-items of a work-group.
constexpr int64_t kTile = 64;
constexpr size_t kVector = 4;

}  // namespace

bool uses_tiles(const PlanBuilder& builder) {
  const bool fits = builder.hardware().largest_group >= static_cast<size_t>(kTile);
  return fits && (builder.hardware().is_gpu || builder.options().local_tiles);
}

Status add_tiled(PlanBuilder& builder, const Node& node, const Convolution& conv,
                 const DirectProblem& problem, const DirectOperands& operands) {
  const DirectSource& src = operands.src;
  const int64_t tiles = (problem.group_oc() + kTile - 1) / kTile;
  HET_ASSIGN(const TensorId weights, builder.stored_constant(packed_weights(problem, kTile)));
  const int64_t pixels = problem.pixels();
  const int64_t matrices = problem.batched ? pixels : 1;
  Launch launch;
  launch.text.file = "conv_tiled";
  launch.text.options = convolution_options(builder, conv, kVector);
  generate_tail(launch.text, conv.tail);
  launch.kernel = "conv_tiled";
  launch.args = {Read{operands.src.id}, Read{weights}, Read{operands.tail.bias},
                 Read{operands.tail.sum}, Write{operands.dst.id}};
  std::vector<int64_t> values = {pixels, tiles, run_of(problem, src),
                                 problem.batched ? problem.group_ic() : problem.ic};
  for (const int64_t value : window_sizes(problem, src)) values.push_back(value);
  values.insert(values.end(),
                {problem.group_ic() * matrices, problem.group_oc() * matrices, problem.group_oc(),
                 problem.batched ? problem.group_oc() : problem.oc});
  for (const int64_t value : output_places(problem)) values.push_back(value);
  for (const int64_t value : values) launch.args.emplace_back(as_int(value));
  launch.global = {groups_of(pixels, kTile) * static_cast<size_t>(tiles * problem.group * kTile), 1,
                   1};
  launch.local = {kTile, 1, 1};
  return builder.add_step(node, std::move(launch));
}

}  // namespace het::gpu
