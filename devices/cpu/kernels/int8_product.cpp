#include "devices/cpu/products/int8_product.h"

#include "devices/cpu/onednn/int8_support.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/products/finished_product.h"
#include "devices/cpu/products/widened_product.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"

namespace het::cpu {
namespace {

/// The addend comes behind the source.
std::optional<size_t> sum_input_of(const Node& node) {
  return node.input(kTailSumInput) != nullptr ? std::optional<size_t>(1) : std::nullopt;
}

/// The step of a product; the addend is overwritten.
Result<bool> add_kernel(PlanBuilder& builder, const Node& node, std::unique_ptr<Kernel> kernel,
                        Format src_format, Format dst_format) {
  const Value& src = *node.input(0);
  const Value& dst = *node.output();
  std::vector<TensorId> inputs(1);
  HET_ASSIGN(inputs[0], builder.read(src, src_format, src.desc().type));
  const std::optional<size_t> sum_input = sum_input_of(node);
  if (sum_input) {
    HET_ASSIGN(inputs.emplace_back(),
               builder.read(*node.input(kTailSumInput), dst_format, dst.desc().type));
  }
  const TensorId out = builder.write(dst, {dst.desc().type, dst.desc().shape, dst_format});
  Step& step = builder.add_step(node, std::move(kernel), std::move(inputs), {out});
  if (sum_input) {
    step.in_place = InPlace::Input;
    step.in_place_input = *sum_input;
  }
  return true;
}

/// On our own loops, where oneDNN has no generated code whose sums are exact.
Result<bool> add_own_product(PlanBuilder& builder, const Node& node,
                             const Int8Arithmetic& arithmetic, Format format) {
  const std::optional<Int8Shape> shape = widened_shape(node, arithmetic);
  if (!shape) return false;
  HET_ASSIGN(std::unique_ptr<Kernel> kernel,
             make_widened_kernel(*shape, node, arithmetic, builder.packing(node)));
  return add_kernel(builder, node, std::move(kernel), format, format);
}

/// A made primitive with its weights and bias packed.
template <class Spec>
Result<std::unique_ptr<Kernel>> product_kernel(PlanBuilder& builder, const Node& node,
                                               const Spec& spec, Primitive primitive,
                                               const std::optional<Tensor>& bias) {
  std::vector<PrimitiveOperand> operands = {
      {PrimitiveOperand::Source::Input, DNNL_ARG_SRC, 0, {}},
      {PrimitiveOperand::Source::Output, DNNL_ARG_DST, 0, {}}};
  HET_ASSIGN(dnnl::memory packed,
             pack_constant(builder.packing(node), node.input(1)->constant(),
                           plain_weights_desc(spec), *primitive.desc(DNNL_ARG_WEIGHTS)));
  operands.push_back({PrimitiveOperand::Source::Constant, DNNL_ARG_WEIGHTS, 0, std::move(packed)});
  if (bias) {
    const dnnl::memory::desc& wanted = *primitive.desc(DNNL_ARG_BIAS);
    HET_ASSIGN(dnnl::memory content, pack_constant(builder.packing(node), *bias, wanted, wanted));
    operands.push_back({PrimitiveOperand::Source::Constant, DNNL_ARG_BIAS, 0, std::move(content)});
  }
  return make_primitive_kernel(std::move(primitive), std::move(operands), sum_input_of(node));
}

template <class Spec>
Result<bool> add_product(PlanBuilder& builder, const Node& node, const Spec& spec,
                         Primitive primitive, const std::optional<Tensor>& bias, Format src_format,
                         Format dst_format) {
  HET_ASSIGN(std::unique_ptr<Kernel> kernel,
             product_kernel(builder, node, spec, std::move(primitive), bias));
  return add_kernel(builder, node, std::move(kernel), src_format, dst_format);
}

/// The bias, which `spec` is told of; nothing where there is none.
template <class Spec>
Result<std::optional<Tensor>> prepare_bias(const Node& node, const Int8Arithmetic& arithmetic,
                                           Spec& spec) {
  if (!arithmetic.has_bias) return std::optional<Tensor>();
  HET_ASSIGN(Tensor bias, int8_bias(node, arithmetic));
  spec.bias_type = bias.type();
  return std::optional(std::move(bias));
}

/// A matrix product; that of a pixelwise convolution over channels-last tensors.
Result<bool> add_matrix_product(PlanBuilder& builder, const Node& node,
                                const Int8Arithmetic& arithmetic, Format format) {
  HET_ASSIGN(MatMulSpec spec, int8_matmul_spec(node, arithmetic));
  HET_ASSIGN(const std::optional<Tensor> bias, prepare_bias(node, arithmetic, spec));
  HET_ASSIGN(Primitive primitive, make_matmul(spec));
  return add_product(builder, node, spec, std::move(primitive), bias, format, format);
}

/// Rows in strips, each computed by one thread.
Result<std::unique_ptr<Kernel>> finished_rows(PlanBuilder& builder, const Node& node,
                                              const Int8Arithmetic& values) {
  HET_ASSIGN(MatMulSpec spec, int8_matmul_spec(node, values));
  const int64_t rows = spec.dst.shape[0];
  const int64_t strip = finished_strip(rows, spec.dst.shape[1]);
  spec.src.shape[0] = spec.dst.shape[0] = strip;
  HET_ASSIGN(const std::optional<Tensor> bias, prepare_bias(node, values, spec));
  std::optional<AloneScope> alone;
  if (strip < rows) alone.emplace();
  HET_ASSIGN(Primitive primitive, make_matmul(spec));
  alone.reset();
  HET_ASSIGN(std::unique_ptr<Kernel> product,
             product_kernel(builder, node, spec, std::move(primitive), bias));
  return make_finished_kernel(std::move(product), node, rows, strip, spec.src.shape[1]);
}

Result<std::unique_ptr<Kernel>> finished_convolution(PlanBuilder& builder, const Node& node,
                                                     const Int8Arithmetic& values) {
  HET_ASSIGN(ConvolutionSpec spec, int8_convolution_spec(node, values));
  spec.src_format = Format::ChannelsLast;
  spec.dst_format = Format::ChannelsLast;
  HET_ASSIGN(const std::optional<Tensor> bias, prepare_bias(node, values, spec));
  HET_ASSIGN(Primitive primitive, make_convolution(spec));
  HET_ASSIGN(std::unique_ptr<Kernel> product,
             product_kernel(builder, node, spec, std::move(primitive), bias));
  const int64_t rows = element_count(node.output()->desc().shape) / spec.weights[0];
  return make_finished_kernel(std::move(product), node, rows, rows, 0);
}

/// The tail is a pass of our own.
Result<bool> add_finished_product(PlanBuilder& builder, const Node& node, Format format) {
  HET_ASSIGN(const Int8Arithmetic values, int8_values(node));
  const bool is_rows = node.op_type() != "Int8Conv" || is_pixelwise(node);
  HET_ASSIGN(std::unique_ptr<Kernel> kernel, is_rows ? finished_rows(builder, node, values)
                                                     : finished_convolution(builder, node, values));
  return add_kernel(builder, node, std::move(kernel), format, format);
}

Result<bool> plan_int8_conv(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const Int8Arithmetic arithmetic, int8_arithmetic(node));
  if (prefers_finished(node, arithmetic)) {
    const std::optional<Int8Shape> shape = widened_shape(node, arithmetic);
    if (shape && shape->depthwise) {
      return add_own_product(builder, node, arithmetic, Format::ChannelsLast);
    }
    return add_finished_product(builder, node, Format::ChannelsLast);
  }
  if (!has_onednn_int8(node, arithmetic)) {
    return add_own_product(builder, node, arithmetic, Format::ChannelsLast);
  }
  if (arithmetic.quantisation.weights_zero != 0) {
    return add_matrix_product(builder, node, arithmetic, Format::ChannelsLast);
  }
  HET_ASSIGN(ConvolutionSpec spec, int8_convolution_spec(node, arithmetic));
  HET_ASSIGN(const std::optional<Tensor> bias, prepare_bias(node, arithmetic, spec));
  HET_ASSIGN(Primitive primitive, make_convolution(spec));
  const auto src_format = format_of(*primitive.desc(DNNL_ARG_SRC), spec.src);
  const auto dst_format = format_of(*primitive.desc(DNNL_ARG_DST), spec.dst);
  if (src_format && dst_format) {
    return add_product(builder, node, spec, std::move(primitive), bias, *src_format, *dst_format);
  }
  spec.src_format = Format::ChannelsLast;
  spec.dst_format = Format::ChannelsLast;
  HET_ASSIGN(Primitive last, make_convolution(spec));
  return add_product(builder, node, spec, std::move(last), bias, Format::ChannelsLast,
                     Format::ChannelsLast);
}

Result<bool> plan_int8_matmul(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const Int8Arithmetic arithmetic, int8_arithmetic(node));
  if (prefers_finished(node, arithmetic)) {
    return add_finished_product(builder, node, Format::Plain);
  }
  if (!has_onednn_int8(node, arithmetic)) {
    return add_own_product(builder, node, arithmetic, Format::Plain);
  }
  return add_matrix_product(builder, node, arithmetic, Format::Plain);
}

}  // namespace

HET_REGISTRATION void register_int8_product(KernelRegistry& registry) {
  registry.add("het", "Int8Conv", plan_int8_conv);
  registry.add("het", "Int8MatMul", plan_int8_matmul);
}

}  // namespace het::cpu
