#include "inference/ops/products/matmul.h"

#include <algorithm>

#include "devices/cpu/onednn/onednn.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/plan/summed_step.h"
#include "devices/cpu/products/activated_kernel.h"
#include "devices/cpu/products/dense.h"
#include "devices/cpu/products/gemm.h"
#include "inference/base/registration.h"
#include "inference/ops/products/gemm.h"
#include "inference/passes/fusions/fused_tail.h"

namespace het::cpu {
namespace {

/// A product of the model in the shapes that oneDNN sees: equal ranks of at least 2.
struct Product {
  MatMulSpec spec;
  const Value* bias = nullptr;
  const Value* sum = nullptr;
};

Shape with_matrix(Shape batch, int64_t rows, int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

std::optional<Product> matmul_product(const Node& node) {
  const Shape& a = node.input(0)->desc().shape;
  const Shape& b = node.input(1)->desc().shape;
  const Result<MatMulDims> dims = matmul_dims(a, b);
  if (!dims) return std::nullopt;
  Product product;
  MatMulSpec& spec = product.spec;
  const bool one_matrix = element_count(dims->b_batch) == 1;
  if (one_matrix) {
    // One right matrix for all: the left ones are stacked into one.
    const int64_t rows = element_count(dims->a_batch) * dims->m;
    spec.src.shape = {rows, dims->k};
    spec.weights.shape = {dims->k, dims->n};
    spec.dst.shape = {rows, dims->n};
  } else {
    spec.src.shape = with_matrix(dims->a_batch, dims->m, dims->k);
    spec.weights.shape = with_matrix(dims->b_batch, dims->k, dims->n);
    spec.dst.shape = with_matrix(dims->batch, dims->m, dims->n);
  }
  if (node.domain() == "het") {
    product.bias = node.input(kTailBiasInput);
    product.sum = node.input(kTailSumInput);
  }
  return product;
}

std::optional<Product> gemm_product(const Node& node) {
  const Result<GemmAttributes> gemm =
      gemm_attributes(node, node.input(0)->desc().shape, node.input(1)->desc().shape);
  if (!gemm) return std::nullopt;
  Product product;
  product.bias = node.input(2);
  if (gemm->alpha != 1.0f || (product.bias && gemm->beta != 1.0f)) return std::nullopt;
  MatMulSpec& spec = product.spec;
  spec.src.shape = {gemm->m, gemm->k};
  spec.weights.shape = {gemm->k, gemm->n};
  spec.dst.shape = {gemm->m, gemm->n};
  spec.src_transposed = gemm->trans_a;
  spec.weights_transposed = gemm->trans_b;
  if (node.domain() == "het") product.sum = node.input(kTailSumInput);
  return product;
}

/// The bias as a row of the product; nothing when it varies along rows.
bool set_bias(Product& product) {
  if (product.bias == nullptr) return true;
  if (!product.bias->is_constant()) return false;
  const int64_t n = product.spec.dst.shape.back();
  if (product.bias->constant().element_count() != n) return false;
  const Shape& shape = product.bias->desc().shape;
  if (n > 1 && (shape.empty() || shape.back() != n)) return false;
  product.spec.bias.assign(product.spec.dst.shape.size() - 1, 1);
  product.spec.bias.push_back(n);
  product.spec.bias_type = ElementType::Float32;
  return true;
}

/// The product of a node as oneDNN computes it, without weights that are not constant in float32 or
/// a bias that it cannot take; then nothing.
std::optional<Product> product_of(const Node& node, const PlanOptions& options) {
  const Value& a = *node.input(0);
  const Value& b = *node.input(1);
  if (a.desc().type != ElementType::Float32 || b.desc().type != ElementType::Float32) {
    return std::nullopt;
  }
  // oneDNN 2.6 divides by the sizes of batched products.
  if (element_count(a.desc().shape) == 0 || element_count(b.desc().shape) == 0) return std::nullopt;
  std::optional<Product> product =
      node.op_type() == "Gemm" ? gemm_product(node) : matmul_product(node);
  if (!product || !set_bias(*product)) return std::nullopt;
  MatMulSpec& spec = product->spec;
  const ElementType type = b.is_constant() ? options.precision : ElementType::Float32;
  spec.src.type = type;
  spec.weights.type = type;
  spec.dst.type = ElementType::Float32;
  spec.weights_packed = b.is_constant();
  spec.post_ops = post_ops_of(tail_of(node.attributes()));
  return product;
}

constexpr std::string_view kLibrary = "onednn";
constexpr std::string_view kFetchAhead = "fetch_ahead";

std::string choice_key_of(const GemmShape& shape) {
  return fmt::format("matmul float32 m:{} k:{} n:{}", shape.m, shape.k, shape.n);
}

Result<MeasuredKernel> make_measured_library(MatMulSpec spec) {
  spec.post_ops.clear();
  spec.bias_type.reset();
  spec.weights_transposed = false;
  HET_ASSIGN(Primitive primitive, make_matmul(spec));
  HET_ASSIGN(const Tensor weights, weights_for_measuring(spec.weights.shape));
  HET_ASSIGN(dnnl::memory packed,
             pack_constant(weights, plain_weights_desc(spec), *primitive.desc(DNNL_ARG_WEIGHTS)));
  using Source = PrimitiveOperand::Source;
  std::vector<PrimitiveOperand> operands = {
      {Source::Input, DNNL_ARG_SRC, 0, {}},
      {Source::Output, DNNL_ARG_DST, 0, {}},
      {Source::Constant, DNNL_ARG_WEIGHTS, 0, std::move(packed)}};
  return MeasuredKernel{
      make_primitive_kernel(std::move(primitive), std::move(operands)), {spec.src}, spec.dst};
}

Result<MeasuredKernel> make_measured_gemm(const GemmShape& shape, MatMulSpec spec) {
  spec.weights_transposed = false;
  HET_ASSIGN(const Tensor weights, weights_for_measuring(spec.weights.shape));
  HET_ASSIGN(auto kernel, make_gemm_kernel(shape, spec, weights, {}, {}));
  return MeasuredKernel{std::move(kernel), {spec.src}, spec.dst};
}

/// oneDNN's kernel or the one that fetches weights ahead, for products of few rows; with many the
/// memory does not count.
std::optional<LayerChoice> matmul_choices(const Node& node, const PlanOptions& options) {
  constexpr int64_t kFewestRows = 2;
  constexpr int64_t kMostRows = 1024;
  /// Both kernels pack the weights to be measured.
  constexpr int64_t kMostWeights = 16 << 20;
  const std::optional<Product> product = product_of(node, options);
  if (!product || options.preferred_formats || product->spec.src.type != ElementType::Float32) {
    return std::nullopt;
  }
  const std::optional<GemmShape> shape = gemm_shape(product->spec);
  if (!shape || shape->m < kFewestRows || shape->m > kMostRows ||
      shape->n > kMostWeights / std::max<int64_t>(shape->k, 1)) {
    return std::nullopt;
  }
  LayerChoice layer;
  layer.key = choice_key_of(*shape);
  layer.work = static_cast<double>(shape->m * shape->k) * static_cast<double>(shape->n);
  layer.by_rule = prefers_gemm(*shape, ElementType::Float32) ? kFetchAhead : kLibrary;
  layer.candidates = {
      {std::string(kLibrary), [spec = product->spec] { return make_measured_library(spec); }},
      {std::string(kFetchAhead),
       [shape = *shape, spec = product->spec] { return make_measured_gemm(shape, spec); }}};
  return layer;
}

/// True when the kernel that fetches weights ahead is planned.
Result<bool> plan_gemm(PlanBuilder& builder, const Node& node, const Product& product) {
  const std::optional<GemmShape> shape = gemm_shape(product.spec);
  if (!shape || builder.options().preferred_formats) return false;
  const ElementType type = product.spec.weights.type;
  const std::optional<std::string> choice =
      type == ElementType::Float32 ? builder.choice(choice_key_of(*shape)) : std::nullopt;
  if (choice == kLibrary || (choice != kFetchAhead && !prefers_gemm(*shape, type))) return false;
  HET_ASSIGN(auto kernel, make_gemm_kernel(*shape, product.spec, node.input(1)->constant(),
                                           product.bias ? product.bias->constant() : Tensor(),
                                           tail_of(node.attributes()), builder.packing(node)));
  if (kernel == nullptr) return false;
  HET_TRY(add_summed_step(builder, node, product.sum, std::move(kernel), {}, {}));
  return true;
}

/// True when a product of our own is planned, for a tail that oneDNN takes long for.
Result<bool> plan_dense(PlanBuilder& builder, const Node& node, const Product& product) {
  const auto tail = dense_tail(tail_of(node.attributes()));
  const auto dense = dense_shape(product.spec);
  if (!tail || !dense || builder.options().preferred_formats || !prefers_dense(*dense, *tail)) {
    return false;
  }
  const bool transposed = product.spec.weights_transposed;
  HET_ASSIGN(auto kernel, make_dense_kernel(*dense, node.input(1)->constant(),
                                            transposed ? 1 : dense->n, transposed ? dense->k : 1,
                                            product.bias ? product.bias->constant() : Tensor(),
                                            *tail, builder.packing(node)));
  HET_TRY(add_summed_step(builder, node, product.sum, std::move(kernel),
                          {Format::Plain, product.spec.src.type},
                          {Format::Plain, product.spec.dst.type}));
  return true;
}

/// Two values of the model are multiplied in bfloat16 where one of them comes so.
bool multiplies_narrow(PlanBuilder& builder, const Value& a, const Value& b) {
  if (builder.options().precision != ElementType::BFloat16 || b.is_constant()) return false;
  return builder.home(a).type == ElementType::BFloat16 ||
         builder.home(b).type == ElementType::BFloat16;
}

Result<bool> plan_matmul(PlanBuilder& builder, const Node& node) {
  const Value& a = *node.input(0);
  const Value& b = *node.input(1);
  std::optional<Product> product = product_of(node, builder.options());
  if (!product) return false;
  MatMulSpec& spec = product->spec;
  if (multiplies_narrow(builder, a, b)) spec.src.type = spec.weights.type = ElementType::BFloat16;
  const ElementType type = spec.src.type;
  HET_ASSIGN(const bool planned, plan_gemm(builder, node, *product));
  if (planned) return true;
  // The kernel that fetches weights ahead gives float32.
  if (type == ElementType::BFloat16) spec.dst.type = builder.kept_type(*node.output());
  HET_ASSIGN(const bool dense, plan_dense(builder, node, *product));
  if (dense) return true;
  FusedTail tail = tail_of(node.attributes());
  std::optional<ElementwiseInstruction> activation;
  if (!builder.options().preferred_formats) activation = slow_last_step(tail, false);
  if (activation) {
    tail.pop_back();
    spec.post_ops = post_ops_of(tail);
  }
  Result<Primitive> primitive = make_matmul(spec);
  if (!primitive) {
    if (node.op() != nullptr) return false;
    return tl::unexpected(primitive.error());
  }

  std::vector<PrimitiveOperand> operands = {
      {PrimitiveOperand::Source::Input, DNNL_ARG_SRC, 0, {}},
      {PrimitiveOperand::Source::Output, DNNL_ARG_DST, 0, {}}};
  std::vector<TensorId> inputs(1);
  HET_ASSIGN(inputs[0], builder.read(a, Format::Plain, type));
  if (spec.weights_packed) {
    MatMulSpec plain = spec;
    plain.weights.type = ElementType::Float32;
    HET_ASSIGN(dnnl::memory packed,
               pack_constant(builder.packing(node), b.constant(), plain_weights_desc(plain),
                             *primitive->desc(DNNL_ARG_WEIGHTS)));
    operands.push_back(
        {PrimitiveOperand::Source::Constant, DNNL_ARG_WEIGHTS, 0, std::move(packed)});
  } else {
    HET_ASSIGN(inputs.emplace_back(), builder.read(b, Format::Plain, type));
    operands.push_back({PrimitiveOperand::Source::Input, DNNL_ARG_WEIGHTS, inputs.size() - 1, {}});
  }
  if (product->bias) {
    const dnnl::memory::desc& wanted = *primitive->desc(DNNL_ARG_BIAS);
    HET_ASSIGN(dnnl::memory content,
               pack_constant(builder.packing(node), product->bias->constant(), wanted, wanted));
    operands.push_back({PrimitiveOperand::Source::Constant, DNNL_ARG_BIAS, 0, std::move(content)});
  }
  std::optional<size_t> sum_input;
  if (product->sum) {
    HET_ASSIGN(inputs.emplace_back(), builder.read(*product->sum, Format::Plain, spec.dst.type));
    sum_input = inputs.size() - 1;
  }
  const Value& dst = *node.output();
  const TensorId out = builder.write(dst, {spec.dst.type, dst.desc().shape, Format::Plain});
  auto kernel = make_primitive_kernel(std::move(*primitive), std::move(operands), sum_input);
  if (activation) {
    kernel = make_activated_kernel(std::move(kernel), *activation, builder.tensor(out).spec);
  }
  Step& step = builder.add_step(node, std::move(kernel), std::move(inputs), {out});
  if (sum_input) {
    step.in_place = InPlace::Input;
    step.in_place_input = *sum_input;
  }
  return true;
}

}  // namespace

HET_REGISTRATION void register_matmul(KernelRegistry& registry) {
  for (const char* domain : {"", "het"}) {
    registry.add(domain, "MatMul", plan_matmul);
    registry.add(domain, "Gemm", plan_matmul);
    registry.add_choices(domain, "MatMul", matmul_choices);
    registry.add_choices(domain, "Gemm", matmul_choices);
  }
}

}  // namespace het::cpu
