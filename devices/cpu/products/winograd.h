#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/cpu/formats/kernel.h"
#include "devices/cpu/loops/winograd_loops.h"
#include "devices/cpu/onednn/onednn.h"
#include "inference/passes/fusions/fused_tail.h"
#include "inference/tensors/tensor.h"

namespace het::cpu {

/// The convolution as a Winograd one, or nothing where that cannot be: it takes float32 and
/// bfloat16, one group, 3x3 without dilation, without stride or in float32 with one of 2, and
/// channels that fill a block. Channels lie last where the formats of `spec` say so, else in blocks
/// of `block`.
std::optional<WinogradShape> winograd_shape(const ConvolutionSpec& spec, int64_t block);

/// The same with the tile size and the kind of weights that are estimated to be the fastest, or
/// nothing where the direct algorithm is: a fixed rule over the number of products, of transformed
/// values and of weights. The direct one is `direct_speed` times as fast as in float32.
std::optional<WinogradShape> choose_winograd(WinogradShape shape, double direct_speed = 1.0);

/// What distinguishes the variants of a convolution: "winograd_f4", "winograd_f4_late".
std::string winograd_name(const WinogradShape& shape);

/// The variants worth measuring; F(6x6) is never faster.
std::vector<WinogradShape> winograd_variants(WinogradShape shape);

/// Bounds of the error of a result, relative to the sum of |src * weights| over its window plus
/// |bias|: 2, 4 and 6 give 1e-6, 4e-6 and 1.5e-5. (A direct sum in float32 stays below 5e-7 here.)
double winograd_error_bound(int64_t m);

/// A kernel with the inputs src and, for a tail with a sum, what is added, which lies as the output
/// does. Transforms the weights [oc,ic,3,3] now. `bias` may be empty. Called on a
/// stream's thread: the work is cut for its team.
Result<std::unique_ptr<Kernel>> make_winograd_kernel(const WinogradShape& shape,
                                                     const Tensor& weights, const Tensor& bias,
                                                     const FusedTail& tail,
                                                     const NodePacking& packing = {});

}  // namespace het::cpu
