#include "devices/cpu/moves/channel_gather.h"

#include "devices/cpu/plan/plan_builder.h"
#include "inference/base/registration.h"

namespace het::cpu {
namespace {

Result<bool> plan_channel_gather(PlanBuilder& builder, const Node& node) {
  const Value& dst = *node.output();
  const ElementType type = builder.kept_type(dst);
  Format format = builder.home(*node.input(0)).format;
  if (is_blocked(format) && type != ElementType::Float32) format = Format::ChannelsLast;
  ChannelSources sources{{}, {type, node.input(0)->desc().shape, format}};
  std::vector<TensorId> inputs;
  for (const Value* value : node.inputs()) {
    HET_ASSIGN(inputs.emplace_back(), builder.read(*value, format, type));
    sources.channels.push_back(value->desc().shape[1]);
  }
  const TensorId out = builder.write(dst, {type, dst.desc().shape, format});
  builder.add_step(node, make_channel_gather(sources, node.attributes().get_ints("channels")),
                   std::move(inputs), {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_channel_gather(KernelRegistry& registry) {
  registry.add("het", "ChannelGather", plan_channel_gather);
}

}  // namespace het::cpu
