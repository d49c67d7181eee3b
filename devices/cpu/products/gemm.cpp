#include "devices/cpu/products/gemm.h"

#include <algorithm>

#include "devices/cpu/formats/cache_size.h"
#include "devices/cpu/loops/elementwise_loop.h"
#include "devices/cpu/loops/simd_target.h"
#include "devices/cpu/products/product_packing.h"
#include "devices/cpu/threads/parallel.h"

namespace het::cpu {
namespace {

/// oneDNN's kernels do not keep the memory busy, or the multipliers, with so few rows.
constexpr int64_t kMostFewRows = 7;
/// With more rows the multiplications count alone.
constexpr int64_t kMostRows = 128;
constexpr int64_t kMostBfloat16Rows = 4;

/// W: float or BFloat16.
template <class W>
class GemmKernel final : public Kernel {
 public:
  GemmKernel(const GemmShape& shape, const FusedTail& tail)
      : shape_(shape), name_(std::string("own_gemm_") + simd_target()) {
    ElementwiseProgram rest;
    for (const TailStep& step : tail) {
      if (step.sum) {
        has_sum_ = true;
        continue;
      }
      ElementwiseInstruction next = step.expression;
      rest.operands = 1;
      next.a = static_cast<uint8_t>(rest.instructions.size());
      rest.instructions.push_back(next);
    }
    rest_ = make_elementwise_code(rest);
  }

  Status pack(const MatMulSpec& spec, const Tensor& weights, const Tensor& bias,
              const NodePacking& packing) {
    HET_ASSIGN(packed_,
               pack_weights(packing, gemm_weights_count(shape_) * sizeof(W), gemm_panels(shape_),
                            weights, [&](int64_t begin, int64_t end, std::byte* memory) {
                              pack_gemm_panels(shape_,
                                               reinterpret_cast<const float*>(weights.bytes()),
                                               spec.weights_transposed ? 1 : shape_.n,
                                               spec.weights_transposed ? shape_.k : 1, begin, end,
                                               reinterpret_cast<W*>(memory));
                            }));
    const auto columns = static_cast<size_t>(gemm_panels(shape_) * gemm_panel());
    HET_ASSIGN(bias_, pack_bias(packing, bias, columns));
    return {};
  }

  std::string_view implementation() const override { return name_; }
  size_t scratch_bytes() const override { return gemm_rows_count(shape_) * sizeof(float); }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const int64_t team = team_size();
    int64_t strips = (shape_.m * shape_.k * kFloat + strip_bytes() - 1) / strip_bytes();
    if (strips >= team) {
      // Every thread packs the rows that it multiplies.
      strips = std::min((strips + team - 1) / team * team, shape_.m);
      parallel_for(strips, 1, [&](int64_t begin, int64_t end) {
        for (int64_t strip = begin; strip < end; ++strip) {
          const Strip part(*this, args, strip, strips);
          part.pack(0, gemm_row_blocks(part.shape));
          part.multiply(0, gemm_panels(part.shape));
        }
      });
      return {};
    }
    for (int64_t strip = 0; strip < strips; ++strip) {
      const Strip part(*this, args, strip, strips);
      parallel_for(gemm_row_blocks(part.shape), 1,
                   [&](int64_t begin, int64_t end) { part.pack(begin, end); });
      parallel_for(gemm_panels(part.shape), 1,
                   [&](int64_t begin, int64_t end) { part.multiply(begin, end); });
    }
    return {};
  }

 private:
  static constexpr int64_t kFloat = sizeof(float);

  /// So much of src stays in the second-level cache beside the weights and dst that pass by.
  static int64_t strip_bytes() { return second_level_bytes() / 2; }

  /// Neighbouring rows of src and dst.
  struct Strip {
    Strip(const GemmKernel& gemm, const KernelArgs& args, int64_t strip, int64_t strips)
        : kernel(gemm), shape(gemm.shape_) {
      const int64_t first = kernel.shape_.m * strip / strips;
      shape.m = kernel.shape_.m * (strip + 1) / strips - first;
      src = reinterpret_cast<const float*>(args.inputs[0]) + first * shape.k;
      blocks = reinterpret_cast<float*>(args.scratch) + first * shape.k;
      dst = reinterpret_cast<float*>(args.outputs[0]) + first * shape.n;
      if (kernel.has_sum_) {
        sum = reinterpret_cast<const float*>(args.inputs[1]) + first * shape.n;
      }
    }

    void pack(int64_t begin, int64_t end) const {
      pack_gemm_rows(shape, src, shape.k, 1, begin, end, blocks);
    }

    void multiply(int64_t begin, int64_t end) const {
      // The rest of a tail finds its operand in the caches.
      constexpr int64_t kPanelsOfRest = 8;
      const int64_t step = kernel.rest_.steps.empty() ? end - begin : kPanelsOfRest;
      for (int64_t panel = begin; panel < end; panel += step) {
        const int64_t last = std::min(panel + step, end);
        multiply_gemm_panels(shape, blocks, kernel.packed(), kernel.bias(), sum, panel, last, dst);
        if (!kernel.rest_.steps.empty()) run_rest(panel, last);
      }
    }

    /// The rest of the tail over these panels' columns.
    void run_rest(int64_t begin, int64_t end) const {
      const int64_t first = begin * gemm_panel();
      const auto count = static_cast<size_t>(std::min(end * gemm_panel(), shape.n) - first);
      for (int64_t row = 0; row < shape.m; ++row) {
        run_elementwise_in_place(kernel.rest_, dst + row * shape.n + first, count);
      }
    }

    const GemmKernel& kernel;
    GemmShape shape;
    const float* src;
    float* blocks;
    const float* sum = nullptr;
    float* dst;
  };

  const W* packed() const { return reinterpret_cast<const W*>(packed_->host()); }
  const float* bias() const { return reinterpret_cast<const float*>(bias_->host()); }

  GemmShape shape_;
  std::string name_;
  BufferPtr packed_;
  BufferPtr bias_;  ///< padded to whole panels
  bool has_sum_ = false;
  ElementwiseCode rest_;  ///< of the tail, over what is stored
};

template <class W>
Result<std::unique_ptr<Kernel>> make_packed(const GemmShape& shape, const MatMulSpec& spec,
                                            const Tensor& weights, const Tensor& bias,
                                            const FusedTail& tail, const NodePacking& packing) {
  auto kernel = std::make_unique<GemmKernel<W>>(shape, tail);
  HET_TRY(kernel->pack(spec, weights, bias, packing));
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace

std::optional<GemmShape> gemm_shape(const MatMulSpec& spec) {
  const ElementType type = spec.weights.type;
  if ((type != ElementType::Float32 && type != ElementType::BFloat16) || spec.src.type != type ||
      spec.dst.type != ElementType::Float32 || !spec.weights_packed || spec.src_transposed ||
      spec.src.shape.size() != 2) {
    return std::nullopt;
  }
  const GemmShape shape{spec.src.shape[0], spec.src.shape[1], spec.dst.shape[1]};
  return shape.n >= gemm_panel() ? std::optional(shape) : std::nullopt;
}

bool prefers_gemm(const GemmShape& shape, ElementType weights) {
  const int64_t bytes = shape.k * shape.n * static_cast<int64_t>(byte_width(weights));
  const bool from_memory = bytes > second_level_bytes();
  if (weights == ElementType::BFloat16) return from_memory && shape.m <= kMostBfloat16Rows;
  return shape.m <= kMostFewRows || (from_memory && shape.m <= kMostRows);
}

Result<std::unique_ptr<Kernel>> make_gemm_kernel(const GemmShape& shape, const MatMulSpec& spec,
                                                 const Tensor& weights, const Tensor& bias,
                                                 const FusedTail& tail,
                                                 const NodePacking& packing) {
  // A sum after something else would need that something in registers.
  for (size_t i = 1; i < tail.size(); ++i) {
    if (tail[i].sum) return std::unique_ptr<Kernel>();
  }
  return spec.weights.type == ElementType::BFloat16
             ? make_packed<BFloat16>(shape, spec, weights, bias, tail, packing)
             : make_packed<float>(shape, spec, weights, bias, tail, packing);
}

}  // namespace het::cpu
