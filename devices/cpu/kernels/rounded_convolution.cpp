#include "devices/cpu/onednn/onednn.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/products/finished_product.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"
#include "inference/passes/fusions/fused_tail.h"

namespace het::cpu {
namespace {

/// Of `rows` pixels, in `type`, without the tail.
MatMulSpec product_spec(const Node& node, ElementType type, int64_t rows) {
  const Shape& weights = node.input(1)->desc().shape;
  MatMulSpec spec;
  spec.src = {type, {rows, weights[1]}, Format::Plain};
  spec.weights = {type, {weights[1], weights[0]}, Format::Plain};
  spec.dst = {ElementType::Float32, {rows, weights[0]}, Format::Plain};
  spec.weights_transposed = true;
  spec.weights_packed = true;
  if (node.input(kTailBiasInput) != nullptr) {
    spec.bias_type = ElementType::Float32;
    spec.bias = {1, weights[0]};
  }
  return spec;
}

/// A thread computes a strip alone.
Result<Primitive> make_product(const MatMulSpec& spec, bool alone) {
  std::optional<AloneScope> scope;
  if (alone) scope.emplace();
  return make_matmul(spec);
}

Result<std::unique_ptr<Kernel>> float_product(PlanBuilder& builder, const Node& node,
                                              MatMulSpec spec, Primitive primitive) {
  std::vector<PrimitiveOperand> operands = {
      {PrimitiveOperand::Source::Input, DNNL_ARG_SRC, 0, {}},
      {PrimitiveOperand::Source::Output, DNNL_ARG_DST, 0, {}}};
  const NodePacking packing = builder.packing(node);
  spec.weights.type = ElementType::Float32;  // as the model has them
  HET_ASSIGN(dnnl::memory weights,
             pack_constant(packing, node.input(1)->constant(), plain_weights_desc(spec),
                           *primitive.desc(DNNL_ARG_WEIGHTS)));
  operands.push_back({PrimitiveOperand::Source::Constant, DNNL_ARG_WEIGHTS, 0, std::move(weights)});
  if (const Value* bias = node.input(kTailBiasInput)) {
    const dnnl::memory::desc& wanted = *primitive.desc(DNNL_ARG_BIAS);
    HET_ASSIGN(dnnl::memory values, pack_constant(packing, bias->constant(), wanted, wanted));
    operands.push_back({PrimitiveOperand::Source::Constant, DNNL_ARG_BIAS, 0, std::move(values)});
  }
  return make_primitive_kernel(std::move(primitive), std::move(operands));
}

Result<bool> plan_rounded_convolution(PlanBuilder& builder, const Node& node) {
  const Value& dst = *node.output();
  const ElementType type = builder.options().precision;
  const int64_t channels = node.input(1)->desc().shape[0];
  const int64_t rows = element_count(dst.desc().shape) / channels;
  const int64_t strip = finished_strip(rows, channels);
  const MatMulSpec spec = product_spec(node, type, strip);
  HET_ASSIGN(Primitive primitive, make_product(spec, strip < rows));
  HET_ASSIGN(std::unique_ptr<Kernel> product,
             float_product(builder, node, spec, std::move(primitive)));
  const int64_t row_bytes = spec.src.shape[1] * static_cast<int64_t>(byte_width(type));
  HET_ASSIGN(const TensorId in, builder.read(*node.input(0), Format::ChannelsLast, type));
  const TensorId out =
      builder.write(dst, {dst.desc().type, dst.desc().shape, Format::ChannelsLast});
  builder.add_step(node, make_finished_kernel(std::move(product), node, rows, strip, row_bytes),
                   {in}, {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_rounded_convolution(KernelRegistry& registry) {
  registry.add("het", "RoundedConv", plan_rounded_convolution);
}

}  // namespace het::cpu
