#include <algorithm>
#include <numeric>
#include <vector>

#include "devices/cpu/onednn/int8_support.h"
#include "devices/cpu/onednn/onednn.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"
#include "inference/ops/products/matmul.h"

namespace het::cpu {
namespace {

/// One product of bytes by constant weights, all in one matrix.
struct IntegerProduct {
  MatMulSpec spec;
  std::vector<uint32_t> column_sums;               ///< of the weights less their zero points
  std::vector<uint32_t> weight_zeros;              ///< a column; empty where all are 0
  ElementType zero_type = ElementType::Undefined;  ///< of the source's zero point; or there is none
};

/// int8 weights as they are; of uint8 128 less, as are their zero points then.
Result<Tensor> signed_weights(const Tensor& weights) {
  if (weights.type() == ElementType::Int8) return weights;
  HET_ASSIGN(Tensor made, Tensor::allocate({ElementType::Int8, weights.shape()}));
  const uint8_t* from = weights.data<uint8_t>();
  int8_t* to = made.data<int8_t>();
  for (int64_t i = 0; i < weights.element_count(); ++i) {
    to[i] = static_cast<int8_t>(from[i] - 128);
  }
  return made;
}

/// A zero point for every column, or one; as they belong to signed_weights().
std::vector<uint32_t> zeros_of_weights(const Value* zeros, ElementType weights, int64_t columns) {
  const int shift = weights == ElementType::UInt8 ? 128 : 0;
  std::vector<uint32_t> result(static_cast<size_t>(columns), static_cast<uint32_t>(-shift));
  if (zeros == nullptr) return result;
  const Tensor& constant = zeros->constant();
  for (size_t c = 0; c < result.size(); ++c) {
    const size_t at = constant.element_count() == 1 ? 0 : c;
    const int zero =
        weights == ElementType::UInt8 ? constant.data<uint8_t>()[at] : constant.data<int8_t>()[at];
    result[c] = static_cast<uint32_t>(zero - shift);
  }
  return result;
}

/// Sums (a - its zero point) * (b - its zero point) as oneDNN's sums of a * b less what the zero
/// points make of them: those of the source are known when it runs only. Sums wrap around.
class IntegerProductKernel final : public Kernel {
 public:
  IntegerProductKernel(std::unique_ptr<Kernel> sums, IntegerProduct product)
      : sums_(std::move(sums)), product_(std::move(product)) {}
  std::string_view implementation() const override { return sums_->implementation(); }
  size_t scratch_bytes() const override {
    return offsets_at() + product_.column_sums.size() * sizeof(uint32_t);
  }
  Result<std::unique_ptr<KernelState>> create_state() const override {
    return sums_->create_state();
  }

  Status execute(const KernelArgs& args, KernelState* state) const override {
    HET_TRY(sums_->execute(args, state));
    const uint32_t zero = source_zero(args);
    if (zero == 0 && product_.weight_zeros.empty()) return {};
    auto* const offsets = reinterpret_cast<uint32_t*>(args.scratch + offsets_at());
    std::ranges::transform(product_.column_sums, offsets, [&](uint32_t sum) { return zero * sum; });
    const int64_t columns = std::ssize(product_.column_sums);
    auto* const dst = reinterpret_cast<uint32_t*>(args.outputs[0]);
    parallel_for(product_.spec.dst.shape[0], kGrain / columns + 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) subtract(args, offsets, row, dst + row * columns);
    });
    return {};
  }

 private:
  static constexpr int64_t kGrain = 16 * 1024;

  size_t offsets_at() const { return (sums_->scratch_bytes() + 63) / 64 * 64; }

  uint32_t source_zero(const KernelArgs& args) const {
    if (product_.zero_type == ElementType::Undefined) return 0;
    const std::byte zero = *args.inputs[1];
    return product_.zero_type == ElementType::UInt8
               ? static_cast<uint32_t>(zero)
               : static_cast<uint32_t>(static_cast<int8_t>(zero));
  }

  uint32_t sum_of_row(const KernelArgs& args, int64_t row) const {
    const int64_t depth = product_.spec.src.shape[1];
    const std::byte* const first = args.inputs[0] + row * depth;
    const auto sum = [&]<class T>(const T* values) {
      return static_cast<uint32_t>(std::accumulate(values, values + depth, 0));
    };
    return product_.spec.src.type == ElementType::UInt8
               ? sum(reinterpret_cast<const uint8_t*>(first))
               : sum(reinterpret_cast<const int8_t*>(first));
  }

  void subtract(const KernelArgs& args, const uint32_t* offsets, int64_t row, uint32_t* dst) const {
    const size_t columns = product_.column_sums.size();
    for (size_t c = 0; c < columns; ++c) dst[c] -= offsets[c];
    if (product_.weight_zeros.empty()) return;
    const uint32_t sum = sum_of_row(args, row);
    for (size_t c = 0; c < columns; ++c) dst[c] -= sum * product_.weight_zeros[c];
  }

  std::unique_ptr<Kernel> sums_;
  IntegerProduct product_;
};

bool is_one_value(const Value* value) {
  return value == nullptr || element_count(value->desc().shape) == 1;
}

/// The shapes of the product, or nothing where oneDNN's sums would not be exact or there is more
/// than one matrix of weights.
std::optional<IntegerProduct> integer_product(const Node& node) {
  const Value& a = *node.input(0);
  const Value& b = *node.input(1);
  const Value* const b_zeros = node.input(3);
  if (!has_exact_int8() || !b.is_constant() || b.desc().shape.size() != 2 ||
      a.desc().shape.size() < 2 || !is_one_value(node.input(2)) ||
      (b_zeros != nullptr && !b_zeros->is_constant())) {
    return std::nullopt;
  }
  const int64_t depth = b.desc().shape[0];
  const int64_t columns = b.desc().shape[1];
  const int64_t values = element_count(a.desc().shape);
  if (depth == 0 || columns == 0 || values == 0) return std::nullopt;
  IntegerProduct product;
  product.spec.src = {a.desc().type, {values / depth, depth}, Format::Plain};
  product.spec.weights = {ElementType::Int8, {depth, columns}, Format::Plain};
  product.spec.dst = {ElementType::Int32, {values / depth, columns}, Format::Plain};
  product.spec.weights_packed = true;
  if (node.input(2) != nullptr) product.zero_type = node.input(2)->desc().type;
  return product;
}

Result<bool> plan_matmul_integer(PlanBuilder& builder, const Node& node) {
  std::optional<IntegerProduct> product = integer_product(node);
  if (!product) return false;
  Result<Primitive> primitive = make_matmul(product->spec);
  if (!primitive) return false;
  const Value& b = *node.input(1);
  HET_ASSIGN(const Tensor weights, signed_weights(b.constant()));
  const int64_t depth = weights.shape()[0];
  const int64_t columns = weights.shape()[1];
  product->weight_zeros = zeros_of_weights(node.input(3), b.desc().type, columns);
  product->column_sums.assign(static_cast<size_t>(columns), 0);
  const int8_t* next = weights.data<int8_t>();
  for (int64_t row = 0; row < depth; ++row) {
    for (size_t c = 0; c < product->column_sums.size(); ++c) {
      product->column_sums[c] += static_cast<uint32_t>(*next++) - product->weight_zeros[c];
    }
  }
  if (std::ranges::all_of(product->weight_zeros, [](uint32_t zero) { return zero == 0; })) {
    product->weight_zeros.clear();
  }
  HET_ASSIGN(dnnl::memory packed,
             pack_constant(builder.packing(node), weights, plain_weights_desc(product->spec),
                           *primitive->desc(DNNL_ARG_WEIGHTS)));
  std::vector<TensorId> inputs(1);
  HET_ASSIGN(inputs[0], builder.read(*node.input(0), Format::Plain, product->spec.src.type));
  if (node.input(2) != nullptr) {
    HET_ASSIGN(inputs.emplace_back(),
               builder.read(*node.input(2), Format::Plain, product->zero_type));
  }
  using Source = PrimitiveOperand::Source;
  std::vector<PrimitiveOperand> operands = {
      {Source::Input, DNNL_ARG_SRC, 0, {}},
      {Source::Output, DNNL_ARG_DST, 0, {}},
      {Source::Constant, DNNL_ARG_WEIGHTS, 0, std::move(packed)}};
  const Value& dst = *node.output();
  const TensorId out = builder.write(dst, {ElementType::Int32, dst.desc().shape, Format::Plain});
  builder.add_step(
      node,
      std::make_unique<IntegerProductKernel>(
          make_primitive_kernel(std::move(*primitive), std::move(operands)), std::move(*product)),
      std::move(inputs), {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_matmul_integer(KernelRegistry& registry) {
  registry.add("", "MatMulInteger", plan_matmul_integer);
}

}  // namespace het::cpu
