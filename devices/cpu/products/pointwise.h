#pragma once

#include <memory>
#include <optional>

#include "devices/cpu/formats/kernel.h"
#include "devices/cpu/loops/pointwise_loops.h"
#include "devices/cpu/onednn/onednn.h"
#include "inference/passes/fusions/fused_tail.h"
#include "inference/tensors/tensor.h"

namespace het::cpu {

/// The convolution as products of pixels, or nothing where that cannot be: it takes float32
/// pictures in blocks of `block` channels, one group, 1x1 without stride and padding.
std::optional<PointwiseShape> pointwise_shape(const ConvolutionSpec& spec, int64_t block);

/// A fixed rule: true where our kernel was measured to be faster than oneDNN's, with AVX-512: for
/// channels that do not fill their blocks, and few pixels. Elsewhere both are near the peak.
bool prefers_pointwise(const PointwiseShape& shape);

/// A kernel with the inputs src and, for a tail with a sum, what is added; all blocked. Packs the
/// weights [oc,ic,1,1] now; `bias` may be empty. Nothing when the tail adds after something else.
Result<std::unique_ptr<Kernel>> make_pointwise_kernel(const PointwiseShape& shape,
                                                      const Tensor& weights, const Tensor& bias,
                                                      const FusedTail& tail,
                                                      const NodePacking& packing = {});

}  // namespace het::cpu
