#include <algorithm>

#include "devices/cpu/constant_scale.h"
#include "devices/cpu/int8_support.h"
#include "devices/cpu/onednn.h"
#include "devices/cpu/plan_builder.h"
#include "inference/ops/conv.h"
#include "inference/ops/matmul.h"
#include "inference/registration.h"

namespace het::cpu {
namespace {

/// The inputs that QLinearConv and QLinearMatMul share: x, scale, zero, w, scale, zero, y scale,
/// zero.
struct QLinearScales {
  ConstantScale src;
  ConstantScale weights;
  ConstantScale dst;
};

bool is_byte(ElementType type) {
  return type == ElementType::UInt8 || type == ElementType::Int8;
}

std::optional<QLinearScales> qlinear_scales(const Node& node) {
  const auto src = constant_scale(node, 1);
  const auto weights = constant_scale(node, 4);
  const auto dst = constant_scale(node, 6);
  if (!src || !weights || !dst || !src->per_tensor() || !dst->per_tensor()) return std::nullopt;
  return QLinearScales{*src, *weights, *dst};
}

Quantisation quantisation_of(const QLinearScales& scales) {
  Quantisation result;
  for (const float weights : scales.weights.scales) {
    result.scales.push_back(scales.src.scales[0] * weights / scales.dst.scales[0]);
  }
  result.src_zero = static_cast<int32_t>(scales.src.zeros[0]);
  result.dst_zero = static_cast<int32_t>(scales.dst.zeros[0]);
  return result;
}

std::vector<PrimitiveOperand> src_and_dst() {
  return {{PrimitiveOperand::Source::Input, DNNL_ARG_SRC, 0, {}},
          {PrimitiveOperand::Source::Output, DNNL_ARG_DST, 0, {}}};
}

Result<bool> plan_qlinear_conv(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Value& weights = *node.input(3);
  const Value* bias = node.input(8);
  const Value& dst = *node.output();
  const std::optional<QLinearScales> scales = qlinear_scales(node);
  if (!has_exact_int8() || !scales || !is_byte(src.desc().type) || !is_byte(dst.desc().type) ||
      (bias != nullptr && !bias->is_constant()) || src.desc().shape.size() != 4) {
    return false;
  }
  const std::optional<Tensor> packed_weights = int8_weights(node);
  if (!packed_weights) return false;
  HET_ASSIGN(const ConvAttributes window,
             conv_attributes(node, src.desc().shape, weights.desc().shape));
  ConvolutionSpec spec;
  spec.src = {src.desc().type, src.desc().shape, Format::Plain};
  spec.dst = {dst.desc().type, dst.desc().shape, Format::Plain};
  spec.weights = weights.desc().shape;
  spec.weights_type = ElementType::Int8;
  if (bias) spec.bias_type = ElementType::Int32;
  spec.groups = window.group;
  spec.strides = window.strides;
  spec.dilations = window.dilations;
  spec.pads_begin = window.pads_begin;
  spec.pads_end = window.pads_end;
  spec.quantisation = quantisation_of(*scales);
  Result<Primitive> primitive = make_convolution(spec);
  if (!primitive) return false;
  const auto src_format = format_of(*primitive->desc(DNNL_ARG_SRC), spec.src);
  const auto dst_format = format_of(*primitive->desc(DNNL_ARG_DST), spec.dst);
  if (!src_format || !dst_format) return false;

  std::vector<PrimitiveOperand> operands = src_and_dst();
  HET_ASSIGN(dnnl::memory packed, pack_constant(*packed_weights, plain_weights_desc(spec),
                                                *primitive->desc(DNNL_ARG_WEIGHTS)));
  operands.push_back({PrimitiveOperand::Source::Constant, DNNL_ARG_WEIGHTS, 0, std::move(packed)});
  if (bias) {
    const dnnl::memory::desc& wanted = *primitive->desc(DNNL_ARG_BIAS);
    HET_ASSIGN(dnnl::memory content, pack_constant(bias->constant(), wanted, wanted));
    operands.push_back({PrimitiveOperand::Source::Constant, DNNL_ARG_BIAS, 0, std::move(content)});
  }
  HET_ASSIGN(const TensorId in, builder.read(src, *src_format, src.desc().type));
  const TensorId out = builder.write(dst, {dst.desc().type, dst.desc().shape, *dst_format});
  builder.add_step(node, make_primitive_kernel(std::move(*primitive), std::move(operands)), {in},
                   {out});
  return true;
}

Result<bool> plan_qlinear_matmul(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Value& weights = *node.input(3);
  const Value& dst = *node.output();
  const std::optional<QLinearScales> scales = qlinear_scales(node);
  if (!has_exact_int8() || !scales || !is_byte(src.desc().type) || !is_byte(dst.desc().type)) {
    return false;
  }
  const std::optional<Tensor> packed_weights = int8_weights(node);
  HET_ASSIGN(const MatMulDims dims, matmul_dims(src.desc().shape, weights.desc().shape));
  if (!packed_weights || element_count(dims.b_batch) != 1) return false;
  const int64_t rows = element_count(dims.a_batch) * dims.m;
  MatMulSpec spec;
  spec.src = {src.desc().type, {rows, dims.k}, Format::Plain};
  spec.weights = {ElementType::Int8, {dims.k, dims.n}, Format::Plain};
  spec.dst = {dst.desc().type, {rows, dims.n}, Format::Plain};
  spec.weights_packed = true;
  spec.quantisation = quantisation_of(*scales);
  Result<Primitive> primitive = make_matmul(spec);
  if (!primitive) return false;
  std::vector<PrimitiveOperand> operands = src_and_dst();
  HET_ASSIGN(dnnl::memory packed, pack_constant(*packed_weights, plain_weights_desc(spec),
                                                *primitive->desc(DNNL_ARG_WEIGHTS)));
  operands.push_back({PrimitiveOperand::Source::Constant, DNNL_ARG_WEIGHTS, 0, std::move(packed)});
  HET_ASSIGN(const TensorId in, builder.read(src, Format::Plain, src.desc().type));
  const TensorId out = builder.write(dst, {dst.desc().type, dst.desc().shape, Format::Plain});
  builder.add_step(node, make_primitive_kernel(std::move(*primitive), std::move(operands)), {in},
                   {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_qlinear(KernelRegistry& registry) {
  registry.add("", "QLinearConv", plan_qlinear_conv);
  registry.add("", "QLinearMatMul", plan_qlinear_matmul);
}

}  // namespace het::cpu
