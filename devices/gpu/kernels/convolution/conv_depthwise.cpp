#include "devices/gpu/kernels/convolution/conv_depthwise.h"

#include <algorithm>
#include <functional>

namespace het::gpu {

std::string refuse_depthwise(const PlanBuilder& builder, const Convolution& conv) {
  if (!conv.is_flat() || conv.transposed) return "not a convolution in two dimensions";
  if (!conv.has_constants()) return "computed weights";
  if (conv.group != conv.ic || conv.group != conv.oc) return "more than a channel a group";
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  return conv.oc < width ? "fewer channels than a vector has" : "";
}

DepthwiseWork depthwise_work(const PlanBuilder& builder, const Window3& window, int64_t n,
                             int64_t channels, int64_t vector) {
  const auto [od, oh, ow] = window.out;
  // Long segments amortise what a work-item costs on a CPU; a GPU wants many work-items.
  const int64_t segment = std::min<int64_t>(builder.hardware().is_gpu ? 8 : 32, ow);
  DepthwiseWork work;
  work.items = groups_of(channels, vector) * groups_of(ow, segment) * static_cast<size_t>(n * oh);
  for (const int64_t value :
       {static_cast<int64_t>(work.items), segment, channels, window.in[1], window.in[2], oh, ow,
        window.kernel[1], window.kernel[2], window.strides[1], window.strides[2],
        window.dilations[1], window.dilations[2], window.pads[1], window.pads[2]}) {
    work.args.emplace_back(as_int(value));
  }
  return work;
}

Status plan_depthwise(PlanBuilder& builder, const Node& node, const Convolution& conv) {
  const Window3& window = conv.window;
  HET_ASSIGN(const std::vector<float> weights, to_float_vector(conv.weights->constant()));
  const std::vector<float> packed = weights_by_tap<float>(weights, conv.oc, std::identity());
  HET_ASSIGN(const TensorId src, builder.read(*conv.src, Format::ChannelsLast));
  HET_ASSIGN(const TensorId constant, builder.stored_constant(packed));
  HET_ASSIGN(const TailOperands operands, tail_operands(builder, conv, conv.oc));
  const TensorId dst = builder.write(*conv.dst, Format::ChannelsLast);
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  const bool wide = !builder.hardware().is_gpu && conv.oc >= 2 * width;
  const DepthwiseWork work =
      depthwise_work(builder, window, conv.n, conv.oc, wide ? 2 * width : width);
  Launch launch;
  launch.text.file = "conv_depthwise";
  launch.text.options = convolution_options(builder, conv);
  generate_tail(launch.text, conv.tail);
  launch.kernel = wide ? "depthwise_4x2" : "depthwise_8x1";
  launch.args = {Read{src}, Read{constant}, Read{operands.bias}, Read{operands.sum}, Write{dst}};
  launch.args.insert(launch.args.end(), work.args.begin(), work.args.end());
  launch.global = {work.items, 1, 1};
  launch.local = builder.row_local();
  return builder.add_step(node, std::move(launch));
}

}  // namespace het::gpu
