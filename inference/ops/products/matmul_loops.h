#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "inference/ops/products/matmul.h"

namespace het {

/// The loops of a stack of matrix products, for every number type: `load_a(i, row)` and
/// `load_b(i, column)` give elements at flat indices as Acc (zero points subtracted),
/// `store(i, row, column, sum)` takes element i of the output. Rows count through all matrices of
/// A, columns through all of B. Order: batch, m, k outermost, then n.
template <class Acc, class LoadA, class LoadB, class Store>
void multiply_matrices(const MatMulDims& dims, const LoadA& load_a, const LoadB& load_b,
                       const Store& store) {
  if (element_count(dims.output_shape) == 0) return;
  std::vector<Acc> sums(static_cast<size_t>(dims.n));
  int64_t dst = 0;
  for (const MatrixPair& pair : matrix_pairs(dims)) {
    const int64_t first_column = pair.b * dims.n;
    for (int64_t m = 0; m < dims.m; ++m) {
      const int64_t a_row = pair.a * dims.m + m;
      std::fill(sums.begin(), sums.end(), Acc(0));
      for (int64_t k = 0; k < dims.k; ++k) {
        const Acc a = load_a(a_row * dims.k + k, a_row);
        const int64_t b_row = (pair.b * dims.k + k) * dims.n;
        for (int64_t n = 0; n < dims.n; ++n) {
          sums[static_cast<size_t>(n)] += a * load_b(b_row + n, first_column + n);
        }
      }
      for (int64_t n = 0; n < dims.n; ++n) {
        store(dst++, a_row, first_column + n, sums[static_cast<size_t>(n)]);
      }
    }
  }
}

}  // namespace het
