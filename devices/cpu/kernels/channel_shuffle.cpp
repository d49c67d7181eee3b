#include "devices/cpu/moves/channel_gather.h"
#include "devices/cpu/moves/move_kernel.h"
#include "devices/cpu/plan/plan_builder.h"
#include "inference/base/registration.h"

namespace het::cpu {
namespace {

Result<bool> plan_channel_shuffle(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Value& dst = *node.output();
  const Shape& shape = src.desc().shape;
  const int64_t group = node.attributes().get_int("group", 1);
  const ElementType type = builder.kept_type(dst);
  Format format = builder.home(src).format;
  if (is_blocked(format) && type != ElementType::Float32) format = Format::ChannelsLast;
  const TensorSpec spec{type, shape, format};
  HET_ASSIGN(const TensorId in, builder.read(src, format, type));
  const TensorId out = builder.write(dst, spec);
  if (is_blocked(spec.format)) {
    std::vector<int64_t> channels;
    for (int64_t c = 0; c < shape[1]; ++c) {
      channels.push_back(c % group * (shape[1] / group) + c / group);
    }
    builder.add_step(node, make_channel_gather({{shape[1]}, spec}, channels), {in}, {out});
    return true;
  }
  int64_t pixels = 1;
  for (size_t i = 2; i < shape.size(); ++i) pixels *= shape[i];
  const int64_t part = shape[1] / group;
  const size_t width = byte_width(type);
  StridedMove loops = format == Format::ChannelsLast
                          ? StridedMove({shape[0] * pixels, part, group}, {shape[1], 1, part},
                                        {shape[1], group, 1}, width)
                          : StridedMove({shape[0], part, group, pixels},
                                        {shape[1] * pixels, pixels, part * pixels, 1},
                                        {shape[1] * pixels, group * pixels, pixels, 1}, width);
  builder.add_step(node, make_move_kernel({{std::move(loops), 0, 0}}), {in}, {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_channel_shuffle(KernelRegistry& registry) {
  registry.add("het", "ChannelShuffle", plan_channel_shuffle);
}

}  // namespace het::cpu
