#include <algorithm>

#include "devices/gpu/kernels/products/int8_layer.h"
#include "devices/gpu/plan/launches.h"

namespace het::gpu {

std::string refuse_int8_depthwise(const PlanBuilder& builder, const Int8Layer& layer) {
  if (layer.group != layer.ic || layer.group != layer.oc) return "more than a channel a group";
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  return layer.oc < width ? "fewer channels than a vector has" : "";
}

Status plan_int8_depthwise(PlanBuilder& builder, const Node& node, const Int8Layer& layer) {
  const Window3& window = layer.window;
  const int64_t taps = window.kernel_count();
  const std::vector<int8_t> weights = int8_weights_of(node);
  std::vector<int16_t> packed(weights.size());
  for (int64_t c = 0; c < layer.oc; ++c) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      packed[static_cast<size_t>(tap * layer.oc + c)] = static_cast<int16_t>(
          weights[static_cast<size_t>(c * taps + tap)] - layer.product.weights_zero);
    }
  }
  const std::vector<uint8_t> outside(static_cast<size_t>(layer.oc),
                                     static_cast<uint8_t>(layer.product.src_zero));
  HET_ASSIGN(const TensorId src, builder.read(*layer.src, layer.format));
  HET_ASSIGN(const TensorId factors,
             builder.constant(Tensor::from<int16_t>({std::ssize(packed)}, packed)));
  HET_ASSIGN(const TensorId zeros, builder.constant(Tensor::from<uint8_t>({layer.oc}, outside)));
  HET_ASSIGN(const std::vector<KernelArg> results, int8_result_args(builder, node, layer, 0));
  const auto [od, oh, ow] = window.out;
  // Long segments amortise what a work-item costs on a CPU; a GPU wants many work-items.
  const int64_t segment = std::min<int64_t>(builder.hardware().is_gpu ? 8 : 32, ow);
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  const size_t items =
      groups_of(layer.oc, width) * groups_of(ow, segment) * static_cast<size_t>(layer.n * oh);
  Launch launch;
  launch.text = int8_program(builder, layer, "int8_depthwise");
  launch.kernel = "int8_depthwise";
  launch.args = {Read{src}, Read{factors}, Read{zeros}};
  launch.args.insert(launch.args.end(), results.begin(), results.end());
  for (const int64_t value :
       {static_cast<int64_t>(items), segment, layer.oc, window.in[1], window.in[2], oh, ow,
        window.kernel[1], window.kernel[2], window.strides[1], window.strides[2],
        window.dilations[1], window.dilations[2], window.pads[1], window.pads[2]}) {
    launch.args.emplace_back(as_int(value));
  }
  launch.global = {items, 1, 1};
  launch.local = builder.row_local();
  return builder.add_step(node, std::move(launch));
}

}  // namespace het::gpu
