#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "inference/passes/fusions/fused_tail.h"
#include "inference/tensors/element_type.h"

namespace het::cpu {

/// dst[rows, n] = tail(src[rows, k] * weights[k, n] + bias) for constant weights, with float32
/// sums: products of matrices, and convolutions of 1x1, whose rows are pixels. The tail is computed
/// on tiles of sums while these are in the first-level cache.
struct DenseShape {
  int64_t rows = 0;
  int64_t k = 0;  ///< even for BFloat16
  int64_t n = 0;
  ElementType src = ElementType::Float32;  ///< Float32 or BFloat16; the weights have it too
  ElementType dst = ElementType::Float32;  ///< likewise; what is added has it too
  /// So many values of a row lie together, 8 or 16; distances in values from row to row, and from
  /// block to block of a row. Row-major: k and `block`; blocked pictures: `block` and a plane.
  int64_t block = 16;
  int64_t src_row = 0, src_block = 0;
  int64_t dst_row = 0, dst_block = 0;
  bool fills_blocks = false;  ///< columns of dst from n to the end of its last block become 0
};

/// What happens to a sum: a tensor is added, then an activation, or the other way round.
struct DenseTail {
  bool adds_before = false, adds_behind = false;  ///< one at most
  std::optional<ElementwiseInstruction> activation;
};
/// Nothing for longer tails and those of other expressions.
std::optional<DenseTail> dense_tail(const FusedTail& tail);

struct DenseOperands {
  const std::byte* src = nullptr;
  const std::byte* weights = nullptr;  ///< packed
  const float* bias = nullptr;         ///< whole panels
  const std::byte* sum = nullptr;      ///< what a tail adds: lies as dst does, may be dst
  std::byte* dst = nullptr;
};

/// True where BFloat16 is multiplied by instructions of the processor.
bool has_dense_bfloat16();

/// Columns that are computed together on this processor, and rows.
int64_t dense_panel();
int64_t dense_rows();
inline int64_t dense_panels(const DenseShape& shape) {
  return (shape.n + dense_panel() - 1) / dense_panel();
}
inline int64_t dense_row_blocks(const DenseShape& shape) {
  return (shape.rows + dense_rows() - 1) / dense_rows();
}

/// Bytes of packed weights: panels one behind the other, [k][panel] or [k / 2][panel][2].
size_t dense_weights_bytes(const DenseShape& shape);
/// Packs the panels [begin, end) of the weights, element [i, j] at weights[i * row_stride + j *
/// column_stride]; columns beyond n become 0.
void pack_dense_panels(const DenseShape& shape, const float* weights, int64_t row_stride,
                       int64_t column_stride, int64_t begin, int64_t end, std::byte* packed);

/// The part of dst in some blocks of rows and some panels.
struct DensePart {
  int64_t row_blocks_begin = 0, row_blocks_end = 0;
  int64_t panels_begin = 0, panels_end = 0;
};
void multiply_dense(const DenseShape& shape, const DenseTail& tail, const DenseOperands& operands,
                    const DensePart& part);

}  // namespace het::cpu
