#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "inference/passes/fusions/fused_tail.h"
#include "inference/tensors/element_type.h"

namespace het::cpu {

/// dst[rows, n] = tail(src[rows, k] * weights[k, n] + bias) in bfloat16 with float32 sums,
/// row-major: products of matrices, and convolutions of 1x1 with the channels last. The tail is
/// computed on tiles of sums while these are in the first-level cache.
struct DenseShape {
  int64_t rows = 0;
  int64_t k = 0;  ///< even
  int64_t n = 0;
  ElementType dst = ElementType::BFloat16;  ///< or Float32; what is added has it too
};

/// What happens to a sum: a tensor is added, then an activation, or the other way round.
struct DenseTail {
  bool adds_before = false, adds_behind = false;  ///< one at most
  std::optional<ElementwiseInstruction> activation;
};
/// Nothing for longer tails and those of other expressions.
std::optional<DenseTail> dense_tail(const FusedTail& tail);

struct DenseOperands {
  const BFloat16* src = nullptr;
  const BFloat16* weights = nullptr;  ///< packed
  const float* bias = nullptr;        ///< whole panels
  const std::byte* sum = nullptr;     ///< what a tail adds: lies as dst does, may be dst
  std::byte* dst = nullptr;
};

/// True where the processor multiplies bfloat16 (AVX512_BF16); the rest is for such processors
/// only.
bool has_dense_bfloat16();

/// Columns that are computed together, and rows.
inline constexpr int64_t kDensePanel = 32;
inline constexpr int64_t kDenseRows = 14;
inline int64_t dense_panels(const DenseShape& shape) {
  return (shape.n + kDensePanel - 1) / kDensePanel;
}
inline int64_t dense_row_blocks(const DenseShape& shape) {
  return (shape.rows + kDenseRows - 1) / kDenseRows;
}

/// Values of packed weights: panels one behind the other, [k / 2][panel][2].
inline int64_t dense_weights_count(const DenseShape& shape) {
  return dense_panels(shape) * kDensePanel * shape.k;
}
/// Packs the panels [begin, end) of the weights, element [i, j] at weights[i * row_stride + j *
/// column_stride]; columns beyond n become 0.
void pack_dense_panels(const DenseShape& shape, const float* weights, int64_t row_stride,
                       int64_t column_stride, int64_t begin, int64_t end, BFloat16* packed);

/// The part of dst in some blocks of rows and some panels.
struct DensePart {
  int64_t row_blocks_begin = 0, row_blocks_end = 0;
  int64_t panels_begin = 0, panels_end = 0;
};
void multiply_dense(const DenseShape& shape, const DenseTail& tail, const DenseOperands& operands,
                    const DensePart& part);

}  // namespace het::cpu
