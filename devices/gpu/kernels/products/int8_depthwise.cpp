#include "devices/gpu/kernels/convolution/conv_depthwise.h"
#include "devices/gpu/kernels/products/int8_layer.h"

namespace het::gpu {

std::string refuse_int8_depthwise(const PlanBuilder& builder, const Int8Layer& layer) {
  if (layer.group != layer.ic || layer.group != layer.oc) return "more than a channel a group";
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  return layer.oc < width ? "fewer channels than a vector has" : "";
}

Status plan_int8_depthwise(PlanBuilder& builder, const Node& node, const Int8Layer& layer) {
  const std::vector<int16_t> packed = weights_by_tap<int16_t>(
      int8_weights_of(node), layer.oc,
      [&](int8_t weight) { return static_cast<int16_t>(weight - layer.product.weights_zero); });
  const std::vector<uint8_t> outside(static_cast<size_t>(layer.oc),
                                     static_cast<uint8_t>(layer.product.src_zero));
  HET_ASSIGN(const TensorId src, builder.read(*layer.src, layer.format));
  HET_ASSIGN(const TensorId factors,
             builder.constant(Tensor::from<int16_t>({std::ssize(packed)}, packed)));
  HET_ASSIGN(const TensorId zeros, builder.constant(Tensor::from<uint8_t>({layer.oc}, outside)));
  HET_ASSIGN(const std::vector<KernelArg> results, int8_result_args(builder, node, layer, 0));
  const DepthwiseWork work =
      depthwise_work(builder, layer.window, layer.n, layer.oc,
                     static_cast<int64_t>(builder.hardware().vector_width()));
  Launch launch;
  launch.text = int8_program(builder, layer, "int8_depthwise");
  launch.kernel = "int8_depthwise";
  launch.args = {Read{src}, Read{factors}, Read{zeros}};
  launch.args.insert(launch.args.end(), results.begin(), results.end());
  launch.args.insert(launch.args.end(), work.args.begin(), work.args.end());
  launch.global = {work.items, 1, 1};
  launch.local = builder.row_local();
  return builder.add_step(node, std::move(launch));
}

}  // namespace het::gpu
