#pragma once

#include <memory>
#include <optional>

#include "devices/cpu/formats/kernel.h"
#include "devices/cpu/loops/dense_loops.h"
#include "devices/cpu/onednn/onednn.h"
#include "inference/tensors/tensor.h"

namespace het::cpu {

/// The convolution as a product of its pixels with the channels last, or nothing where that cannot
/// be: it is 1x1 in one group, without stride and padding, in bfloat16.
std::optional<DenseShape> dense_shape(const ConvolutionSpec& spec);
/// The product of matrices, or nothing: its weights are one constant matrix of bfloat16.
std::optional<DenseShape> dense_shape(const MatMulSpec& spec);

/// Activations that oneDNN computes in 15 to 40 cycles a vector of 16 values (Zen 4), ours in 8
/// to 20.
bool is_slow_in_onednn(const ElementwiseInstruction& op);

/// A fixed rule: true for tails with such activations. Elsewhere oneDNN's kernels are as fast.
bool prefers_dense(const DenseShape& shape, const DenseTail& tail);

/// A kernel with the inputs src and, for a tail with a sum, what is added, which lies as dst does.
/// `weights` has the element of row k and column n at k * row_stride + n * column_stride. `bias`
/// may be empty.
Result<std::unique_ptr<Kernel>> make_dense_kernel(const DenseShape& shape, const Tensor& weights,
                                                  int64_t row_stride, int64_t column_stride,
                                                  const Tensor& bias, const DenseTail& tail,
                                                  const NodePacking& packing = {});

}  // namespace het::cpu
