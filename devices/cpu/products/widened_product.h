#pragma once

#include <memory>
#include <optional>

#include "devices/cpu/formats/kernel.h"
#include "devices/cpu/formats/packed_constants.h"
#include "devices/cpu/loops/widened_loops.h"
#include "devices/cpu/products/int8_product.h"

namespace het::cpu {

/// The int8 product as one of widened bytes, or nothing where that cannot be: several
/// filters per channel, sums that may exceed 32 bits, a tail that the loops do not have.
std::optional<Int8Shape> widened_shape(const Node& node, const Int8Arithmetic& arithmetic);

/// A kernel with the inputs src and, for a Sum in the tail, the addend. Pictures have the
/// channels last. Packs the weights now.
Result<std::unique_ptr<Kernel>> make_widened_kernel(const Int8Shape& shape, const Node& node,
                                                    const Int8Arithmetic& arithmetic,
                                                    const NodePacking& packing);

/// The sums of products alone, as int32, without zero points.
std::optional<Int8Shape> widened_sums_shape(const MatMulSpec& spec);
std::optional<Int8Shape> widened_sums_shape(const ConvolutionSpec& spec);
Result<std::unique_ptr<Kernel>> make_widened_sums(const Int8Shape& shape, const Tensor& weights,
                                                  const WeightStrides& strides,
                                                  const NodePacking& packing);

}  // namespace het::cpu
