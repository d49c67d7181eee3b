#include <algorithm>
#include <numeric>
#include <vector>

#include "devices/cpu/onednn/onednn.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/products/integer_sums.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"
#include "inference/ops/products/matmul.h"

namespace het::cpu {
namespace {

/// One product of bytes by constant weights, all in one matrix.
struct IntegerProduct {
  MatMulSpec spec;
  IntegerWeights weights;
  SourceZero zero;
};

/// Sums (a - its zero point) * (b - its zero point) as sums of a * b less what the zero
/// points make of them: those of the source are known when it runs only. Sums wrap around.
class IntegerProductKernel final : public Kernel {
 public:
  IntegerProductKernel(std::unique_ptr<Kernel> sums, IntegerProduct product)
      : sums_(std::move(sums)), product_(std::move(product)) {}
  std::string_view implementation() const override { return sums_->implementation(); }
  size_t scratch_bytes() const override {
    return offsets_at() + product_.weights.sums.size() * sizeof(uint32_t);
  }
  Result<std::unique_ptr<KernelState>> create_state() const override {
    return sums_->create_state();
  }

  Status execute(const KernelArgs& args, KernelState* state) const override {
    HET_TRY(sums_->execute(args, state));
    const uint32_t zero = product_.zero.read(args);
    if (zero == 0 && product_.weights.zeros.empty()) return {};
    auto* const offsets = reinterpret_cast<uint32_t*>(args.scratch + offsets_at());
    std::ranges::transform(product_.weights.sums, offsets,
                           [&](uint32_t sum) { return zero * sum; });
    const int64_t columns = std::ssize(product_.weights.sums);
    auto* const dst = reinterpret_cast<uint32_t*>(args.outputs[0]);
    parallel_for(product_.spec.dst.shape[0], kGrain / columns + 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) subtract(args, offsets, row, dst + row * columns);
    });
    return {};
  }

 private:
  static constexpr int64_t kGrain = 16 * 1024;

  size_t offsets_at() const { return (sums_->scratch_bytes() + 63) / 64 * 64; }

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
    const size_t columns = product_.weights.sums.size();
    for (size_t c = 0; c < columns; ++c) dst[c] -= offsets[c];
    if (product_.weights.zeros.empty()) return;
    const uint32_t sum = sum_of_row(args, row);
    for (size_t c = 0; c < columns; ++c) dst[c] -= sum * product_.weights.zeros[c];
  }

  std::unique_ptr<Kernel> sums_;
  IntegerProduct product_;
};

/// The shapes of the product, or nothing where there is more than one matrix of weights.
std::optional<IntegerProduct> integer_product(const Node& node) {
  const Value& a = *node.input(0);
  const Value& b = *node.input(1);
  if (!b.is_constant() || b.desc().shape.size() != 2 || a.desc().shape.size() < 2 ||
      !has_simple_zeros(node)) {
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
  product.zero = SourceZero(node.input(2));
  return product;
}

Result<bool> plan_matmul_integer(PlanBuilder& builder, const Node& node) {
  std::optional<IntegerProduct> product = integer_product(node);
  if (!product) return false;
  HET_ASSIGN(product->weights, integer_weights(node.input(1)->constant(), node.input(3), 1));
  HET_ASSIGN(std::unique_ptr<Kernel> sums,
             make_integer_sums(product->spec, product->weights.values, builder.packing(node)));
  if (sums == nullptr) return false;
  product->weights.values = {};
  std::vector<TensorId> inputs(1);
  HET_ASSIGN(inputs[0], builder.read(*node.input(0), Format::Plain, product->spec.src.type));
  if (product->zero.exists()) {
    HET_ASSIGN(inputs.emplace_back(),
               builder.read(*node.input(2), Format::Plain, product->zero.type()));
  }
  const Value& dst = *node.output();
  const TensorId out = builder.write(dst, {ElementType::Int32, dst.desc().shape, Format::Plain});
  builder.add_step(node,
                   std::make_unique<IntegerProductKernel>(std::move(sums), std::move(*product)),
                   std::move(inputs), {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_matmul_integer(KernelRegistry& registry) {
  registry.add("", "MatMulInteger", plan_matmul_integer);
}

}  // namespace het::cpu
