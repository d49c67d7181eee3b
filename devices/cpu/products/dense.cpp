#include "devices/cpu/products/dense.h"

#include <algorithm>

#include "devices/cpu/formats/huge_pages.h"
#include "devices/cpu/loops/simd_target.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/readers/mapped_file.h"
#include "inference/tensors/buffer.h"

namespace het::cpu {
namespace {

bool is_dense_type(ElementType type) {
  return type == ElementType::Float32 || type == ElementType::BFloat16;
}

/// Tails that oneDNN computes in 15 to 40 cycles a vector of 16 values (Zen 4), ours in 8 to 20.
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

class DenseKernel final : public Kernel {
 public:
  DenseKernel(const DenseProduct& product, DenseTail tail)
      : product_(product), tail_(tail), name_(fmt::format("own_dense_{}", simd_target())) {}

  Status pack(const Tensor& weights, int64_t row_stride, int64_t column_stride, const Tensor& bias,
              const NodePacking& packing) {
    const DenseShape& shape = product_.shape;
    const size_t bytes = dense_weights_bytes(shape);
    HET_ASSIGN(packed_, packing.pack(bytes, [&](std::byte* memory) {
      prefer_huge_pages(memory, bytes);
      std::optional<AloneScope> alone;
      if (bytes < kSharedPackingBytes) alone.emplace();
      const auto* plain = reinterpret_cast<const float*>(weights.bytes());
      parallel_for(dense_panels(shape), 1, [&](int64_t begin, int64_t end) {
        pack_dense_panels(shape, plain, row_stride, column_stride, begin, end, memory);
      });
      release_file_pages({weights.bytes(), weights.size_bytes()});
    }));
    const auto columns = static_cast<size_t>(dense_panels(shape) * dense_panel());
    HET_ASSIGN(bias_, packing.pack(columns * sizeof(float), [&](std::byte* memory) {
      auto* const values = reinterpret_cast<float*>(memory);
      std::fill_n(values, columns, 0.0f);
      if (bias.empty()) return;
      std::copy_n(reinterpret_cast<const float*>(bias.bytes()), shape.n, values);
    }));
    return {};
  }

  std::string_view implementation() const override { return name_; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const DenseShape& shape = product_.shape;
    const int64_t row_blocks = dense_row_blocks(shape);
    const int64_t panels = dense_panels(shape);
    const auto src_width = static_cast<int64_t>(byte_width(shape.src));
    const auto dst_width = static_cast<int64_t>(byte_width(shape.dst));
    // The threads share out what is larger, and each reads all of the other.
    const bool by_panels = panels > row_blocks;
    for (int64_t batch = 0; batch < product_.batches; ++batch) {
      DenseOperands operands;
      operands.src = args.inputs[0] + batch * product_.src_batch * src_width;
      operands.weights = packed_->host();
      operands.bias = reinterpret_cast<const float*>(bias_->host());
      if (tail_.adds_before || tail_.adds_behind)
        operands.sum = args.inputs[1] + batch * product_.dst_batch * dst_width;
      operands.dst = args.outputs[0] + batch * product_.dst_batch * dst_width;
      parallel_for(by_panels ? panels : row_blocks, 1, [&](int64_t begin, int64_t end) {
        const DensePart part =
            by_panels ? DensePart{0, row_blocks, begin, end} : DensePart{begin, end, 0, panels};
        multiply_dense(shape, tail_, operands, part);
      });
    }
    return {};
  }

 private:
  DenseProduct product_;
  DenseTail tail_;
  std::string name_;
  BufferPtr packed_;
  BufferPtr bias_;  ///< padded to whole panels
};

}  // namespace

std::optional<DenseProduct> dense_product(const ConvolutionSpec& spec, Format format) {
  const auto all = [](const std::vector<int64_t>& list, int64_t value) {
    return std::ranges::all_of(list, [value](int64_t v) { return v == value; });
  };
  if (!is_dense_type(spec.src.type) || !is_dense_type(spec.dst.type) ||
      spec.weights_type != spec.src.type || spec.transposed || spec.groups != 1 ||
      spec.src.shape.size() < 3 || spec.weights.size() != spec.src.shape.size() ||
      !std::all_of(spec.weights.begin() + 2, spec.weights.end(),
                   [](int64_t size) { return size == 1; }) ||
      !all(spec.strides, 1) || !all(spec.pads_begin, 0) || !all(spec.pads_end, 0) ||
      element_count(spec.dst.shape) == 0) {
    return std::nullopt;
  }
  DenseProduct product;
  DenseShape& shape = product.shape;
  shape.src = spec.src.type;
  shape.dst = spec.dst.type;
  shape.k = spec.src.shape[1];
  shape.n = spec.dst.shape[1];
  int64_t pixels = 1;
  for (size_t i = 2; i < spec.src.shape.size(); ++i) pixels *= spec.src.shape[i];
  if (format == Format::ChannelsLast) {
    shape.rows = spec.src.shape[0] * pixels;
    shape.src_row = shape.k;
    shape.dst_row = shape.n;
    shape.src_block = shape.dst_block = shape.block;
  } else if (is_blocked(format) && shape.src == ElementType::Float32) {
    shape.block = block_of(format);
    if (shape.block % (dense_panel() / 2) != 0) return std::nullopt;
    shape.rows = pixels;
    shape.src_row = shape.dst_row = shape.block;
    shape.src_block = shape.dst_block = pixels * shape.block;
    shape.fills_blocks = true;
    product.batches = spec.src.shape[0];
    const auto blocks = [&](int64_t channels) {
      return (channels + shape.block - 1) / shape.block;
    };
    product.src_batch = blocks(shape.k) * shape.src_block;
    product.dst_batch = blocks(shape.n) * shape.dst_block;
  } else {
    return std::nullopt;
  }
  if (shape.src == ElementType::BFloat16 && (shape.k % 2 != 0 || !has_dense_bfloat16())) {
    return std::nullopt;
  }
  return product;
}

std::optional<DenseProduct> dense_product(const MatMulSpec& spec) {
  if (!is_dense_type(spec.src.type) || !is_dense_type(spec.dst.type) ||
      spec.weights.type != spec.src.type || !spec.weights_packed || spec.src_transposed ||
      spec.src.shape.size() != 2 || element_count(spec.dst.shape) == 0) {
    return std::nullopt;
  }
  DenseProduct product;
  DenseShape& shape = product.shape;
  shape.src = spec.src.type;
  shape.dst = spec.dst.type;
  shape.rows = spec.src.shape[0];
  shape.k = shape.src_row = spec.src.shape[1];
  shape.n = shape.dst_row = spec.dst.shape[1];
  shape.src_block = shape.dst_block = shape.block;
  if (shape.src == ElementType::BFloat16 && (shape.k % 2 != 0 || !has_dense_bfloat16())) {
    return std::nullopt;
  }
  return product;
}

bool prefers_dense(const DenseProduct& product, const DenseTail& tail, bool saves_reorder) {
  // A tile of few rows loads weights for each of them.
  constexpr int64_t kFewestRows = 8;
  return product.shape.rows >= kFewestRows && product.shape.n >= dense_panel() / 2 &&
         (saves_reorder || (tail.activation && is_slow_in_onednn(*tail.activation)));
}

Result<std::unique_ptr<Kernel>> make_dense_kernel(const DenseProduct& product,
                                                  const Tensor& weights, int64_t row_stride,
                                                  int64_t column_stride, const Tensor& bias,
                                                  const DenseTail& tail,
                                                  const NodePacking& packing) {
  auto kernel = std::make_unique<DenseKernel>(product, tail);
  HET_TRY(kernel->pack(weights, row_stride, column_stride, bias, packing));
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace het::cpu
