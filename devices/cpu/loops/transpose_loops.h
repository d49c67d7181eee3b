#pragma once

#include <cstdint>

#include "inference/tensors/element_type.h"

namespace het::cpu {

/// Where a matrix lies, with the distance of its rows in values.
template <class T>
struct MatrixRows {
  T* values = nullptr;
  int64_t stride = 0;
};

/// dst[c][r] = src[r][c] for `rows` and `columns` of src, converted between the types; rounding is
/// to nearest, halves to even. Vectorised for the processor it runs on.
void transpose(MatrixRows<const float> src, MatrixRows<float> dst, int64_t rows, int64_t columns);
void transpose(MatrixRows<const float> src, MatrixRows<BFloat16> dst, int64_t rows,
               int64_t columns);
void transpose(MatrixRows<const BFloat16> src, MatrixRows<float> dst, int64_t rows,
               int64_t columns);
void transpose(MatrixRows<const BFloat16> src, MatrixRows<BFloat16> dst, int64_t rows,
               int64_t columns);
void transpose(MatrixRows<const uint8_t> src, MatrixRows<uint8_t> dst, int64_t rows,
               int64_t columns);

}  // namespace het::cpu
