#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "devices/cpu/formats/kernel.h"
#include "devices/cpu/loops/depthwise_loops.h"
#include "devices/cpu/onednn/onednn.h"
#include "inference/passes/fusions/fused_tail.h"
#include "inference/tensors/tensor.h"

namespace het::cpu {

/// The convolution as a depthwise one over src and dst in `format`, or nothing where that cannot
/// be: each channel of the result reads one of src, not transposed.
std::optional<DepthwiseShape> depthwise_shape(const ConvolutionSpec& spec, Format format);

/// The same operations, or nothing where the loops have none of them (sums, for instance) or where
/// padded channels would not stay 0.
std::optional<std::vector<DepthwiseOp>> depthwise_ops(const DepthwiseShape& shape,
                                                      const std::vector<PostOp>& post_ops);

/// True where the kernel is faster than oneDNN's: a fixed rule, from measurements with AVX-512, and
/// with AVX2 in float32.
bool choose_depthwise(const DepthwiseShape& shape);

/// A kernel with the input src. Float `weights` [c,1,kh,kw] and `bias` [c] or empty.
std::unique_ptr<Kernel> make_depthwise_kernel(const DepthwiseShape& shape, const Tensor& weights,
                                              const Tensor& bias, std::vector<DepthwiseOp> ops);

}  // namespace het::cpu
