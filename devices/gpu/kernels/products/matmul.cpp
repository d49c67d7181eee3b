#include "inference/ops/products/matmul.h"

#include "devices/gpu/kernels/products/integer_matmul.h"
#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/products/products.h"
#include "inference/base/registration.h"
#include "inference/ops/products/gemm.h"

namespace het::gpu {
namespace {

/// A bias of [m, n] that is repeated along rows, columns or both.
struct BiasSteps {
  int64_t row = 0;
  int64_t column = 0;
};
std::optional<BiasSteps> bias_steps(const Shape& shape, int64_t m, int64_t n) {
  if (shape.size() > 2) {
    // Leading ones say nothing.
    if (element_count(std::span(shape).first(shape.size() - 2)) != 1) return std::nullopt;
    return bias_steps(Shape(shape.end() - 2, shape.end()), m, n);
  }
  const int64_t columns = shape.empty() ? 1 : shape.back();
  const int64_t rows = shape.size() == 2 ? shape[0] : 1;
  if ((columns != 1 && columns != n) || (rows != 1 && rows != m)) return std::nullopt;
  return BiasSteps{rows == 1 ? 0 : columns, columns == 1 ? 0 : 1};
}

const Value* bias_of(const Node& node) {
  const bool has_bias = node.op_type() == "Gemm" || node.domain() == "het";
  return has_bias ? node.input(kTailBiasInput) : nullptr;
}

const Value* sum_of(const Node& node) {
  return node.domain() == "het" ? node.input(kTailSumInput) : nullptr;
}

/// Sizes, steps and indices of the node's matrices; tensors are not set.
Result<Product> matmul_product(const Node& node) {
  HET_ASSIGN(const MatMulDims dims,
             matmul_dims(node.input(0)->desc().shape, node.input(1)->desc().shape));
  Product product;
  product.m = dims.m;
  product.n = dims.n;
  product.k = dims.k;
  product.left_steps = {dims.m * dims.k, dims.k, 1};
  product.right_steps = {dims.k * dims.n, dims.n, 1};
  product.right_matrices = element_count(dims.b_batch);
  if (product.right_matrices == 1) {
    // One right matrix for all: the left ones are stacked into one.
    product.m *= element_count(dims.a_batch);
    return product;
  }
  product.matrices.clear();
  for (const MatrixPair& pair : matrix_pairs(dims)) {
    product.matrices.emplace_back(static_cast<int>(pair.a), static_cast<int>(pair.b));
  }
  return product;
}

Result<Product> gemm_product(const Node& node) {
  HET_ASSIGN(const GemmAttributes gemm,
             gemm_attributes(node, node.input(0)->desc().shape, node.input(1)->desc().shape));
  Product product;
  product.m = gemm.m;
  product.n = gemm.n;
  product.k = gemm.k;
  product.alpha = gemm.alpha;
  product.beta = gemm.beta;
  product.left_steps = gemm.trans_a ? MatrixSteps{0, 1, gemm.m} : MatrixSteps{0, gemm.k, 1};
  product.right_steps = gemm.trans_b ? MatrixSteps{gemm.k * gemm.n, 1, gemm.k}
                                     : MatrixSteps{gemm.k * gemm.n, gemm.n, 1};
  return product;
}

Result<Product> product_of(const Node& node) {
  return node.op_type() == "Gemm" ? gemm_product(node) : matmul_product(node);
}

bool is_integer_matmul(const Node& node) {
  return node.op_type() == "MatMul" && node.domain().empty() &&
         is_integer(node.output()->desc().type);
}

std::string refuse_matmul(const Node& node) {
  if (is_integer_matmul(node)) return refuse_integer_matmul(node);
  for (const Value* value : node.inputs()) {
    if (value != nullptr && value->desc().type != ElementType::Float32) {
      return fmt::format("products of {} have no GPU kernel, only those of float32",
                         to_string(value->desc().type));
    }
  }
  const Result<Product> product = product_of(node);
  if (!product) return product.error().message();
  if (is_product_too_large(product->right_matrices, product->k, product->n)) {
    return "the padded right side has more than 2^31 elements";
  }
  const Value* const bias = bias_of(node);
  if (bias != nullptr && !bias_steps(bias->desc().shape, product->m, product->n)) {
    return fmt::format("a bias of shape {} does not fit the matrices",
                       het::to_string(bias->desc().shape));
  }
  return {};
}

Status plan_matmul(PlanBuilder& builder, const Node& node) {
  if (is_integer_matmul(node)) return plan_integer_matmul(builder, node);
  const ElementType type = builder.options().stored_type;
  HET_ASSIGN(Product product, product_of(node));
  HET_ASSIGN(product.left, builder.read(*node.input(0), Format::Plain, type));
  const Value& right = *node.input(1);
  if (right.is_constant()) {
    product.right_constant = &right.constant();
  } else {
    HET_ASSIGN(product.right, builder.read(right, Format::Plain, type));
  }
  if (const Value* const bias = bias_of(node); bias != nullptr && product.beta != 0.0f) {
    const BiasSteps steps = *bias_steps(bias->desc().shape, product.m, product.n);
    HET_ASSIGN(product.bias, builder.read(*bias, Format::Plain, type));
    product.bias_row = steps.row;
    product.bias_column = steps.column;
  }
  if (const Value* const sum = sum_of(node)) {
    HET_ASSIGN(product.sum, builder.read(*sum, Format::Plain, type));
  }
  product.tail = tail_of(node.attributes());
  product.result = builder.write(*node.output(), Format::Plain);
  return add_product(builder, node, product);
}

}  // namespace

HET_REGISTRATION void register_matmul(KernelRegistry& registry) {
  for (const char* domain : {"", "het"}) {
    for (const char* type : {"MatMul", "Gemm"}) {
      registry.add(domain, type, {refuse_matmul, plan_matmul});
    }
  }
}

}  // namespace het::gpu
