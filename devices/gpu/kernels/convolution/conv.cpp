#include "devices/gpu/kernels/convolution/conv_choice.h"
#include "devices/gpu/kernels/convolution/conv_depthwise.h"
#include "devices/gpu/kernels/convolution/conv_direct.h"
#include "devices/gpu/kernels/convolution/conv_general.h"
#include "devices/gpu/kernels/convolution/conv_winograd.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

Status plan_conv(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const Convolution conv, convolution_of(node));
  if (refuse_depthwise(builder, conv).empty()) return plan_depthwise(builder, node, conv);
  if (!refuse_direct(conv).empty()) return plan_general(builder, node, conv);
  const ConvolutionWay way = choose_way(builder, node, conv);
  if (way.winograd > 0) return plan_winograd(builder, node, conv, way.winograd);
  return plan_direct(builder, node, conv, way.tile);
}

}  // namespace

HET_REGISTRATION void register_conv(KernelRegistry& registry) {
  registry.add("", "Conv", {refuse_convolution, plan_conv});
  registry.add("het", "Conv", {refuse_convolution, plan_conv});
  registry.add("", "ConvInteger", {refuse_window, plan_conv_integer});
}

}  // namespace het::gpu
