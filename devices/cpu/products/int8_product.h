#pragma once

#include <vector>

#include "devices/cpu/onednn/onednn.h"
#include "inference/model/model.h"
#include "inference/passes/fusions/int8/int8_product.h"

namespace het::cpu {

/// het.Int8Conv and het.Int8MatMul as oneDNN takes them. Offsets (zero points, where no padding has
/// to know them) are left out of `quantisation`: they are added to the bias, which its faster
/// kernels take.
struct Int8Arithmetic {
  Quantisation quantisation;
  std::vector<PostOp> post_ops;
  std::vector<float> offsets = {0.0f};  ///< to add to each result before the post-ops, as scales
  int32_t compensated = 0;              ///< zero point of x that the bias stands for
  bool has_bias = false;
  ElementType dst = ElementType::Float32;
  std::vector<int32_t> src_zeros;  ///< of each channel of x, which no kernel of oneDNN takes
  /// Where the result has steps of its own for each channel behind post-ops in real values, which
  /// no kernel of oneDNN does: y = factor * x + zero.
  std::vector<float> dst_factors, dst_zeros;
};
/// Fails with NotSupported when the tail would take one kind of post-op twice.
Result<Int8Arithmetic> int8_arithmetic(const Node& node);
/// The same without the tail: real values in float32.
Result<Int8Arithmetic> int8_values(const Node& node);
/// The bias with all offsets, per output channel, in units of the sums.
Result<std::vector<double>> int8_bias_in_sums(const Node& node, const Int8Arithmetic& arithmetic);
/// The same as oneDNN takes it.
Result<Tensor> int8_bias(const Node& node, const Int8Arithmetic& arithmetic);

/// Everything but the bias. A convolution along one dimension becomes one over pictures of height
/// 1. For one with a zero point of weights see int8_matmul_spec().
Result<ConvolutionSpec> int8_convolution_spec(const Node& node, const Int8Arithmetic& arithmetic);
/// A product of matrices or a pixelwise one, the latter over channels-last tensors.
Result<MatMulSpec> int8_matmul_spec(const Node& node, const Int8Arithmetic& arithmetic);

/// True when oneDNN has a kernel whose sums are exact: generated code, not only its reference.
bool has_onednn_int8(const Node& node, const Int8Arithmetic& arithmetic);
/// True when there is that one, or that of widened_product.h or finished_product.h.
bool has_int8_kernel(const Node& node);

}  // namespace het::cpu
