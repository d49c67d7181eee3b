#include "devices/gpu/kernels/convolution/conv_general.h"

#include "devices/gpu/plan/launches.h"

namespace het::gpu {
namespace {

/// The sizes of a launch, behind its tensors: one work-item an output.
void add_sizes(const PlanBuilder& builder, const Convolution& conv, Launch& launch) {
  const Window3& window = conv.window;
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
}

/// Inputs 2 and 3 of ConvInteger: zero points of the source and of the weights; may be omitted.
constexpr size_t kSrcZero = 2;
constexpr size_t kWeightsZero = 3;

Result<TensorId> zero_points(PlanBuilder& builder, const Value* zeros) {
  if (zeros == nullptr) return kNoTensor;
  return builder.read(*zeros, Format::Plain);
}

}  // namespace

Status plan_general(PlanBuilder& builder, const Node& node, const Convolution& conv) {
  HET_ASSIGN(const TensorId src, builder.read(*conv.src, Format::ChannelsLast));
  HET_ASSIGN(const TensorId weights, builder.read(*conv.weights, Format::Plain));
  HET_ASSIGN(const TailOperands operands, tail_operands(builder, conv, conv.oc));
  const TensorId dst = builder.write(*conv.dst, Format::ChannelsLast);
  Launch launch;
  launch.text.file = "conv_general";
  launch.text.options =
      convolution_options(builder, conv) + (conv.transposed ? " -DTRANSPOSED" : "");
  generate_tail(launch.text, conv.tail);
  launch.kernel = "conv_general";
  launch.args = {Read{src}, Read{weights}, Read{operands.bias}, Read{operands.sum}, Write{dst}};
  add_sizes(builder, conv, launch);
  return builder.add_step(node, std::move(launch));
}

Status plan_conv_integer(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const Convolution conv, convolution_of(node));
  const Value* const zeros = node.input(kWeightsZero);
  HET_ASSIGN(const TensorId src, builder.read(*conv.src, Format::ChannelsLast));
  HET_ASSIGN(const TensorId weights, builder.read(*conv.weights, Format::Plain));
  HET_ASSIGN(const TensorId weights_zero, zero_points(builder, zeros));
  HET_ASSIGN(const TensorId src_zero, zero_points(builder, node.input(kSrcZero)));
  const TensorId dst = builder.write(*conv.dst, Format::ChannelsLast);
  Launch launch;
  launch.text.file = "conv_general";
  const bool per_channel = zeros != nullptr && element_count(zeros->desc().shape) > 1;
  launch.text.options =
      fmt::format("-DSRC={} -DWEIGHTS={} -DZERO_STEP={}", c_type(conv.src->desc().type),
                  c_type(conv.weights->desc().type), per_channel ? 1 : 0);
  launch.kernel = "conv_general";
  launch.args = {Read{src}, Read{weights}, Read{weights_zero}, Read{src_zero}, Write{dst}};
  add_sizes(builder, conv, launch);
  return builder.add_step(node, std::move(launch));
}

}  // namespace het::gpu
