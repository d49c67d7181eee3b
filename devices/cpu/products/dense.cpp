#include "devices/cpu/products/dense.h"

#include <algorithm>

#include "devices/cpu/loops/simd_target.h"
#include "devices/cpu/products/product_packing.h"
#include "devices/cpu/threads/parallel.h"

namespace het::cpu {
namespace {

class DenseKernel final : public Kernel {
 public:
  DenseKernel(const DenseShape& shape, const DenseTail& tail)
      : shape_(shape), tail_(tail), name_(fmt::format("own_dense_{}", simd_target())) {}

  Status pack(const Tensor& weights, int64_t row_stride, int64_t column_stride, const Tensor& bias,
              const NodePacking& packing) {
    HET_ASSIGN(
        packed_,
        pack_weights(
            packing, static_cast<size_t>(dense_weights_count(shape_)) * sizeof(BFloat16),
            dense_panels(shape_), weights, [&](int64_t begin, int64_t end, std::byte* memory) {
              pack_dense_panels(shape_, reinterpret_cast<const float*>(weights.bytes()), row_stride,
                                column_stride, begin, end, reinterpret_cast<BFloat16*>(memory));
            }));
    const auto columns = static_cast<size_t>(dense_panels(shape_) * kDensePanel);
    HET_ASSIGN(bias_, pack_bias(packing, bias, columns));
    return {};
  }

  std::string_view implementation() const override { return name_; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const int64_t row_blocks = dense_row_blocks(shape_);
    const int64_t panels = dense_panels(shape_);
    DenseOperands operands;
    operands.src = reinterpret_cast<const BFloat16*>(args.inputs[0]);
    operands.weights = reinterpret_cast<const BFloat16*>(packed_->host());
    operands.bias = reinterpret_cast<const float*>(bias_->host());
    if (tail_.adds_before || tail_.adds_behind) operands.sum = args.inputs[1];
    operands.dst = args.outputs[0];
    // The threads share out what is larger, and each reads all of the other.
    const bool by_panels = panels > row_blocks;
    parallel_for(by_panels ? panels : row_blocks, 1, [&](int64_t begin, int64_t end) {
      const DensePart part =
          by_panels ? DensePart{0, row_blocks, begin, end} : DensePart{begin, end, 0, panels};
      multiply_dense(shape_, tail_, operands, part);
    });
    return {};
  }

 private:
  DenseShape shape_;
  DenseTail tail_;
  std::string name_;
  BufferPtr packed_;
  BufferPtr bias_;  ///< padded to whole panels
};

bool can_be(const DenseShape& shape) {
  return has_dense_bfloat16() && shape.rows > 0 && shape.n > 0 && shape.k > 0 && shape.k % 2 == 0 &&
         (shape.dst == ElementType::BFloat16 || shape.dst == ElementType::Float32);
}

}  // namespace

std::optional<DenseShape> dense_shape(const ConvolutionSpec& spec) {
  const auto all = [](const std::vector<int64_t>& list, int64_t value) {
    return std::ranges::all_of(list, [value](int64_t v) { return v == value; });
  };
  if (spec.src.type != ElementType::BFloat16 || spec.weights_type != ElementType::BFloat16 ||
      spec.transposed || spec.groups != 1 || spec.src.shape.size() < 3 ||
      spec.weights.size() != spec.src.shape.size() ||
      !std::all_of(spec.weights.begin() + 2, spec.weights.end(),
                   [](int64_t size) { return size == 1; }) ||
      !all(spec.strides, 1) || !all(spec.pads_begin, 0) || !all(spec.pads_end, 0)) {
    return std::nullopt;
  }
  DenseShape shape{spec.src.shape[0], spec.src.shape[1], spec.dst.shape[1], spec.dst.type};
  for (size_t i = 2; i < spec.src.shape.size(); ++i) shape.rows *= spec.src.shape[i];
  return can_be(shape) ? std::optional(shape) : std::nullopt;
}

std::optional<DenseShape> dense_shape(const MatMulSpec& spec) {
  if (spec.src.type != ElementType::BFloat16 || spec.weights.type != ElementType::BFloat16 ||
      !spec.weights_packed || spec.src_transposed || spec.src.shape.size() != 2) {
    return std::nullopt;
  }
  const DenseShape shape{spec.src.shape[0], spec.src.shape[1], spec.dst.shape[1], spec.dst.type};
  return can_be(shape) ? std::optional(shape) : std::nullopt;
}

bool is_slow_in_onednn(const ElementwiseInstruction& op) {
  switch (op.kind) {
    case ElementwiseKind::Sigmoid:
    case ElementwiseKind::Tanh:
    case ElementwiseKind::Swish:
    case ElementwiseKind::GeluErf:
    case ElementwiseKind::GeluTanh:
      return true;
    default:
      return false;
  }
}

bool prefers_dense(const DenseShape& shape, const DenseTail& tail) {
  // A tile of few rows loads weights for each of them.
  constexpr int64_t kFewestRows = 8;
  return shape.rows >= kFewestRows && shape.n >= kDensePanel / 2 && tail.activation &&
         is_slow_in_onednn(*tail.activation);
}

Result<std::unique_ptr<Kernel>> make_dense_kernel(const DenseShape& shape, const Tensor& weights,
                                                  int64_t row_stride, int64_t column_stride,
                                                  const Tensor& bias, const DenseTail& tail,
                                                  const NodePacking& packing) {
  auto kernel = std::make_unique<DenseKernel>(shape, tail);
  HET_TRY(kernel->pack(weights, row_stride, column_stride, bias, packing));
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace het::cpu
