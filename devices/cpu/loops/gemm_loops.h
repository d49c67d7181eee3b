#pragma once

#include <cstddef>
#include <cstdint>

#include "inference/tensors/element_type.h"

namespace het::cpu {

/// dst[m,n] = a[m,k] * b[k,n] for a b that comes from far memory, or an a of few rows. Rows of b
/// are cut into slices of about 1000, the columns of a slice into panels of two vectors, one behind
/// the other in memory: while a is multiplied with one panel, the next one is fetched.
struct GemmShape {
  int64_t m = 0;
  int64_t k = 0;
  int64_t n = 0;
  int64_t dst_stride = n;  ///< from row to row of dst

  static constexpr int64_t kMostDepth = 1024;
  int64_t slices() const { return (k + kMostDepth - 1) / kMostDepth; }
  int64_t first_of(int64_t slice) const { return k * slice / slices(); }
};

/// Columns of a panel on this processor.
int64_t gemm_panel();
inline int64_t gemm_panels(const GemmShape& shape) {
  return (shape.n + gemm_panel() - 1) / gemm_panel();
}
/// Rows that are multiplied at a time on this processor.
int64_t gemm_rows();
inline int64_t gemm_row_blocks(const GemmShape& shape) {
  return (shape.m + gemm_rows() - 1) / gemm_rows();
}
/// Values of b as panels, and of a as blocks of rows.
size_t gemm_weights_count(const GemmShape& shape);
size_t gemm_rows_count(const GemmShape& shape);

/// Copies columns of b, element [i, j] at b[i * row_stride + j * column_stride], into panels
/// [begin, end) of `packed`; columns beyond n become 0.
void pack_gemm_panels(const GemmShape& shape, const float* b, int64_t row_stride,
                      int64_t column_stride, int64_t begin, int64_t end, float* packed);
void pack_gemm_panels(const GemmShape& shape, const float* b, int64_t row_stride,
                      int64_t column_stride, int64_t begin, int64_t end, BFloat16* packed);

/// Copies blocks [begin, end) of a's rows, so that a column of a block lies together. Strides as
/// those of b.
void pack_gemm_rows(const GemmShape& shape, const float* a, int64_t row_stride,
                    int64_t column_stride, int64_t begin, int64_t end, float* blocks);

/// The columns of panels [begin, end) of dst = a * b + bias (+ sum, which may be dst; null for
/// none). `bias` has a value per column, whole panels of them; null for none. `sum` has the strides
/// of dst.
void multiply_gemm_panels(const GemmShape& shape, const float* blocks, const float* packed,
                          const float* bias, const float* sum, int64_t begin, int64_t end,
                          float* dst);
void multiply_gemm_panels(const GemmShape& shape, const float* blocks, const BFloat16* packed,
                          const float* bias, const float* sum, int64_t begin, int64_t end,
                          float* dst);

}  // namespace het::cpu
