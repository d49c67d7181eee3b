#pragma once

#include <memory>
#include <optional>

#include "devices/cpu/formats/kernel.h"
#include "devices/cpu/loops/gemm_loops.h"
#include "devices/cpu/onednn/onednn.h"
#include "inference/passes/fusions/fused_tail.h"
#include "inference/tensors/tensor.h"

namespace het::cpu {

/// The product as one whose weights are fetched ahead, or nothing where that cannot be: it takes
/// one matrix of constant weights in float32 or bfloat16. Source and result are float32.
std::optional<GemmShape> gemm_shape(const MatMulSpec& spec);

/// A fixed rule: true for few rows, and for weights that do not stay in the second-level cache
/// times no more rows than leave the memory's time something that counts. Elsewhere oneDNN's
/// kernels are as fast. In bfloat16 few rows of such weights: with more the products cost next to
/// nothing.
bool prefers_gemm(const GemmShape& shape, ElementType weights);

/// A kernel with the inputs src and, for a tail with a sum, what is added; all row-major. Packs
/// the weights of `spec` (transposed or not) now; `bias`, a value per column, may be empty. Nothing
/// when the tail adds after something else.
Result<std::unique_ptr<Kernel>> make_gemm_kernel(const GemmShape& shape, const MatMulSpec& spec,
                                                 const Tensor& weights, const Tensor& bias,
                                                 const FusedTail& tail,
                                                 const NodePacking& packing = {});

}  // namespace het::cpu
