#include "devices/cpu/moves/move_kernel.h"
#include "devices/cpu/plan/plan_builder.h"
#include "inference/base/registration.h"

namespace het::cpu {
namespace {

/// Distances between elements of a picture; a channel is number lane of its block of `lanes`.
struct PictureStrides {
  int64_t image = 0;
  int64_t block = 0;
  int64_t lane = 0;
  int64_t row = 0;
  int64_t pixel = 0;
};

PictureStrides strides_of(const TensorSpec& spec, int64_t lanes) {
  const int64_t channels = spec.shape[1];
  const int64_t height = spec.shape[2];
  const int64_t width = spec.shape[3];
  const int64_t area = height * width;
  if (spec.format == Format::ChannelsLast) {
    return {channels * area, lanes, 1, width * channels, channels};
  }
  if (is_blocked(spec.format)) {
    return {(channels + lanes - 1) / lanes * area * lanes, area * lanes, 1, width * lanes, lanes};
  }
  return {channels * area, area * lanes, area, width, 1};
}

/// The loops of either operator. The deep tensor's channels are [block row, block column, c] (DCR)
/// or [c, block row, block column] (CRD), the wide one's rows [h, block row], its columns
/// [w, block column]. Blocks of channels need DCR and whole ones in c.
StridedMove loops_of(const TensorSpec& deep_spec, const TensorSpec& wide_spec, int64_t block,
                     bool channels_first, bool to_space) {
  const int64_t lanes = block_of(deep_spec.format);
  const PictureStrides deep = strides_of(deep_spec, lanes);
  const PictureStrides wide = strides_of(wide_spec, lanes);
  const int64_t blocks = wide_spec.shape[1] / lanes;
  const int64_t channel_step = channels_first ? block * block * deep.block : deep.block;
  const int64_t column_step = channels_first ? deep.block : blocks * deep.block;
  const std::vector<int64_t> dims = {wide_spec.shape[0], blocks, lanes, deep_spec.shape[2], block,
                                     deep_spec.shape[3], block};
  const std::vector<int64_t> in_deep = {deep.image,          channel_step, deep.lane,  deep.row,
                                        block * column_step, deep.pixel,   column_step};
  const std::vector<int64_t> in_wide = {wide.image, wide.block,         wide.lane, wide.row * block,
                                        wide.row,   wide.pixel * block, wide.pixel};
  const size_t width = byte_width(deep_spec.type);
  return to_space ? StridedMove(dims, in_deep, in_wide, width)
                  : StridedMove(dims, in_wide, in_deep, width);
}

Result<bool> plan_blocks(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Value& dst = *node.output();
  const bool to_space = node.op_type() == "DepthToSpace";
  const int64_t block = node.attributes().get_int("blocksize", 1);
  const bool channels_first = node.attributes().get_string("mode", "DCR") == "CRD";
  const ElementType type = builder.moved_type(src, dst);
  const size_t width = byte_width(type);
  if (src.is_constant() || (width != 1 && width != 2 && width != 4 && width != 8)) return false;
  const TensorSpec& home = builder.home(src);
  Format format = home.type == type ? home.format : Format::Plain;
  const int64_t channels = (to_space ? dst : src).desc().shape[1];
  if (is_blocked(format) && (channels_first || channels % block_of(format) != 0)) {
    format = Format::Plain;
  }
  // Models show plain results.
  const bool is_shown = dst.consumers().empty() && format == Format::ChannelsLast;
  HET_ASSIGN(const TensorId in, builder.read(src, format, type));
  const TensorSpec from{type, src.desc().shape, format};
  const TensorSpec to{type, dst.desc().shape, is_shown ? Format::Plain : format};
  const TensorId out = builder.write(dst, to);
  StridedMove loops = to_space ? loops_of(from, to, block, channels_first, true)
                               : loops_of(to, from, block, channels_first, false);
  builder.add_step(node, make_move_kernel({{std::move(loops), 0, 0}}), {in}, {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_depth_to_space(KernelRegistry& registry) {
  registry.add("", "DepthToSpace", plan_blocks);
  registry.add("", "SpaceToDepth", plan_blocks);
}

}  // namespace het::cpu
