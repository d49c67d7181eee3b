#pragma once

#include <cstdint>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/tensors/shape.h"

namespace het {

/// A stack of matrix products [m, k] x [k, n] with NumPy's broadcasting of the leading dimensions;
/// a rank-1 input is a row (left) or a column (right) whose dimension leaves the output again.
struct MatMulDims {
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  Shape batch;         ///< broadcast leading dimensions
  Shape a_batch;       ///< leading dimensions of the left input, padded with 1 to batch's rank
  Shape b_batch;       ///< of the right input
  Shape output_shape;  ///< batch and those of m, n that remain
};

/// For MatMul, MatMulInteger and QLinearMatMul; static shapes. Fails on scalars, on inner
/// dimensions that differ and on batches that do not broadcast.
Result<MatMulDims> matmul_dims(const Shape& a, const Shape& b);

/// For every matrix of the output's batch, in order: index of the left and of the right matrix.
struct MatrixPair {
  int64_t a;
  int64_t b;
};
std::vector<MatrixPair> matrix_pairs(const MatMulDims& dims);

}  // namespace het
