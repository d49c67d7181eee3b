#include "devices/gpu/kernels/conv_general.h"

#include "devices/gpu/launches.h"

namespace het::gpu {

Status plan_general(PlanBuilder& builder, const Node& node, const Convolution& conv) {
  const Window3& window = conv.window;
  HET_ASSIGN(const TensorId src, builder.read(*conv.src, Format::ChannelsLast));
  HET_ASSIGN(const TensorId weights, builder.read(*conv.weights, Format::Plain));
  HET_ASSIGN(const TailOperands operands, tail_operands(builder, conv, conv.oc));
  const TensorId dst = builder.write(*conv.dst, Format::ChannelsLast);
  Launch launch;
  launch.text.file = "conv_general";
  launch.text.options =
      convolution_options(builder, conv) + (conv.transposed ? " -DTRANSPOSED" : "");
  launch.text.generated = tail_program(conv.tail);
  launch.kernel = "conv_general";
  launch.args = {Read{src}, Read{weights}, Read{operands.bias}, Read{operands.sum}, Write{dst}};
  const int64_t outputs = element_count(conv.dst->desc().shape);
  // Weights are [oc, ic / group, kernel...], transposed ones [ic, oc / group, kernel...].
  const int64_t taps = window.kernel_count();
  const int64_t step_ic = conv.transposed ? conv.group_oc() * taps : taps;
  const int64_t step_oc = conv.transposed ? taps : conv.group_ic() * taps;
  for (const int64_t value :
       {outputs, conv.oc, conv.ic, conv.group_oc(), conv.group_ic(), step_oc, step_ic}) {
    launch.args.emplace_back(as_int(value));
  }
  for (const auto* list : {&window.in, &window.out, &window.kernel, &window.strides,
                           &window.dilations, &window.pads}) {
    for (const int64_t value : *list) launch.args.emplace_back(as_int(value));
  }
  launch.global = {static_cast<size_t>(outputs), 1, 1};
  launch.local = builder.row_local();
  return builder.add_step(node, std::move(launch));
}

}  // namespace het::gpu
