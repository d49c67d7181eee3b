#include <algorithm>
#include <array>

#include "devices/gpu/kernels/convolution/conv_direct.h"
#include "devices/gpu/kernels/products/int8_layer.h"
#include "devices/gpu/plan/launches.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

/// Bytes that are multiplied at a time.
constexpr int64_t kPacked = 4;

/// What a work-item of kernels/products/int8_product.cl keeps in registers.
constexpr std::array<DirectTile, 2> kInt8Tiles = {{{4, 2}, {8, 1}}};

/// Work-items of a work-group: neighbouring pixels that share the weights in the first-level cache.
int64_t lanes_of(const PlanBuilder& builder) {
  return builder.hardware().is_cpu ? 8 : 32;
}

/// The layer with groups of few channels merged, where weights in between may be zero.
DirectProblem problem_of(const PlanBuilder& builder, const Node& node, const Int8Layer& layer) {
  DirectProblem problem;
  problem.n = layer.n;
  problem.ic = layer.ic;
  problem.oc = layer.oc;
  problem.group = layer.group;
  problem.window = layer.window;
  const std::vector<int8_t> weights = int8_weights_of(node);
  problem.weights.assign(weights.begin(), weights.end());
  if (layer.product.weights_zero == 0) {
    merge_groups(problem, static_cast<int64_t>(builder.hardware().vector_width()));
  }
  return problem;
}

/// A vector more of channels costs more than pixels that nobody needs.
DirectTile tile_for(const DirectProblem& problem, int64_t width) {
  return problem.group_oc() > width ? kInt8Tiles[0] : kInt8Tiles[1];
}

/// [group][tile][kh][kw][ic / 4][channels of a tile][4], zeros behind a group's last channels.
Tensor packed_bytes(const DirectProblem& problem, int64_t tile_channels) {
  const int64_t taps = problem.window.kernel_count();
  const int64_t group_ic = problem.group_ic();
  const int64_t group_oc = problem.group_oc();
  const auto tiles = static_cast<int64_t>(groups_of(group_oc, tile_channels));
  const auto words = static_cast<int64_t>(groups_of(group_ic, kPacked));
  std::vector<int8_t> packed(
      static_cast<size_t>(problem.group * tiles * taps * words * tile_channels * kPacked));
  const float* from = problem.weights.data();
  for (int64_t c = 0; c < problem.oc; ++c) {
    const int64_t channel = c % group_oc;
    const int64_t tile = c / group_oc * tiles + channel / tile_channels;
    for (int64_t i = 0; i < group_ic; ++i) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t word =
            ((tile * taps + tap) * words + i / kPacked) * tile_channels + channel % tile_channels;
        packed[static_cast<size_t>(word * kPacked + i % kPacked)] = static_cast<int8_t>(*from++);
      }
    }
  }
  return Tensor::from<int8_t>({std::ssize(packed)}, packed);
}

ProgramText program_of(PlanBuilder& builder, const Int8Layer& layer) {
  ProgramText text = int8_program(builder, layer, "int8_product");
  text.options += fmt::format(" -DLANES={}", lanes_of(builder));
  return text;
}

/// The source in uints of four channels of a group: as it lies, or a copy.
Result<TensorId> packed_source(PlanBuilder& builder, const Node& node, const Int8Layer& layer,
                               const DirectProblem& problem) {
  const int64_t group_ic = problem.group_ic();
  if (group_ic % kPacked == 0) return builder.read(*layer.src, layer.format);
  // A product of matrices has rows of channels.
  const TensorSpec home = builder.home(*layer.src);
  const bool plain = layer.format == Format::ChannelsLast && home.format == Format::Plain &&
                     home.shape.size() >= 3;
  HET_ASSIGN(const TensorId from, layer.format == Format::Plain
                                      ? builder.read(*layer.src, Format::Plain)
                                      : builder.read_home(*layer.src));
  const int64_t area = layer.window.in_count();
  const int64_t pixels = layer.n * area;
  const auto words = static_cast<int64_t>(groups_of(group_ic, kPacked));
  const TensorId to =
      builder.temporary({ElementType::UInt32, {pixels, problem.group * words}, Format::Plain});
  // The same whatever stands behind the sums.
  Int8Layer bare = layer;
  bare.product.tail.clear();
  bare.sum = nullptr;
  Launch launch;
  launch.text = program_of(builder, bare);
  launch.kernel = "pack_bytes";
  launch.args = {Read{from}, Write{to}};
  for (const int64_t value : {pixels, area, layer.ic, problem.group, group_ic, int64_t{plain}}) {
    launch.args.emplace_back(as_int(value));
  }
  launch.global = {static_cast<size_t>(pixels), 1, 1};
  launch.local = builder.row_local();
  HET_TRY(builder.add_step(node, std::move(launch)));
  return to;
}

/// What taps outside of the picture read: zero points, and zeros behind a group's last channel.
Result<TensorId> outside_of(PlanBuilder& builder, const Int8Layer& layer,
                            const DirectProblem& problem) {
  const int64_t group_ic = problem.group_ic();
  const auto words = static_cast<int64_t>(groups_of(group_ic, kPacked));
  std::vector<uint8_t> row(static_cast<size_t>(words * kPacked));
  std::fill_n(row.begin(), group_ic, static_cast<uint8_t>(layer.product.src_zero));
  return builder.constant(Tensor::from<uint8_t>({std::ssize(row)}, row));
}

Status plan_direct_bytes(PlanBuilder& builder, const Node& node, const Int8Layer& layer) {
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  const DirectProblem problem = problem_of(builder, node, layer);
  const DirectTile tile = tile_for(problem, width);
  const int64_t tile_channels = tile.blocks * width;
  const auto tiles = static_cast<int64_t>(groups_of(problem.group_oc(), tile_channels));
  const Tensor packed = packed_bytes(problem, tile_channels);
  HET_ASSIGN(const TensorId src, packed_source(builder, node, layer, problem));
  HET_ASSIGN(const TensorId weights, builder.constant(packed));
  HET_ASSIGN(const TensorId outside, outside_of(builder, layer, problem));
  HET_ASSIGN(const std::vector<KernelArg> results,
             int8_result_args(builder, node, layer, tile_channels));
  const int64_t pixels = layer.pixels();
  const auto words = static_cast<int64_t>(groups_of(problem.group_ic(), kPacked));
  const bool pixels_first = packed.element_count() > layer.n * layer.window.in_count() * layer.ic;
  Window3 window = layer.window;
  if (layer.is_product()) {
    // Pixels in one row: nothing to find.
    window.in = {1, 1, pixels};
    window.out = window.in;
  }
  Launch launch;
  launch.text = program_of(builder, layer);
  launch.kernel = fmt::format("int8_{}x{}", tile.pixels, tile.blocks);
  launch.args = {Read{src}, Read{weights}, Read{outside}};
  launch.args.insert(launch.args.end(), results.begin(), results.end());
  for (const int64_t value : {int64_t{layer.product.weights_zero},
                              pixels,
                              tiles,
                              problem.group,
                              int64_t{pixels_first},
                              words,
                              problem.group * words,
                              window.in[1],
                              window.in[2],
                              window.out[1],
                              window.out[2],
                              window.kernel[1],
                              window.kernel[2],
                              window.strides[1],
                              window.strides[2],
                              window.dilations[1],
                              window.dilations[2],
                              window.pads[1],
                              window.pads[2],
                              problem.group_oc(),
                              problem.oc}) {
    launch.args.emplace_back(as_int(value));
  }
  const int64_t lanes = lanes_of(builder);
  const size_t work_groups =
      groups_of(pixels, tile.pixels * lanes) * static_cast<size_t>(tiles * problem.group);
  launch.local = {static_cast<size_t>(lanes), 1, 1};
  launch.global = {work_groups * launch.local[0], 1, 1};
  return builder.add_step(node, std::move(launch));
}

Status plan_int8(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const Int8Layer layer, int8_layer_of(node));
  if (refuse_int8_depthwise(builder, layer).empty()) {
    return plan_int8_depthwise(builder, node, layer);
  }
  return plan_direct_bytes(builder, node, layer);
}

}  // namespace

HET_REGISTRATION void register_int8_product(KernelRegistry& registry) {
  registry.add("het", "Int8Conv", {refuse_int8, plan_int8});
  registry.add("het", "Int8MatMul", {refuse_int8, plan_int8});
}

}  // namespace het::gpu
