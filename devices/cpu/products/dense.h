#pragma once

#include <memory>
#include <optional>

#include "devices/cpu/formats/kernel.h"
#include "devices/cpu/loops/dense_loops.h"
#include "devices/cpu/onednn/onednn.h"
#include "inference/tensors/tensor.h"

namespace het::cpu {

/// A dense product as a kernel of our own computes it: `shape` once for each of `batches`, whose
/// src and dst lie at these distances, in values.
struct DenseProduct {
  DenseShape shape;
  int64_t batches = 1;
  int64_t src_batch = 0, dst_batch = 0;
};

/// The convolution as products of pixels, with src and dst in `format`, or nothing where that
/// cannot be: it is 1x1 in one group, without stride and padding, in float32 or bfloat16.
std::optional<DenseProduct> dense_product(const ConvolutionSpec& spec, Format format);
/// The product of matrices, or nothing: its weights are one constant matrix.
std::optional<DenseProduct> dense_product(const MatMulSpec& spec);

/// A fixed rule: true for tails with activations for which oneDNN's code takes much longer than
/// ours, and where oneDNN's kernel would have to copy the source first.
bool prefers_dense(const DenseProduct& product, const DenseTail& tail, bool saves_reorder);

/// A kernel with the inputs src and, for a tail with a sum, what is added, which lies as dst does.
/// `weights` has the element of row k and column n at k * row_stride + n * column_stride. `bias`
/// may be empty.
Result<std::unique_ptr<Kernel>> make_dense_kernel(const DenseProduct& product,
                                                  const Tensor& weights, int64_t row_stride,
                                                  int64_t column_stride, const Tensor& bias,
                                                  const DenseTail& tail,
                                                  const NodePacking& packing = {});

}  // namespace het::cpu
