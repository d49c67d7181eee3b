#pragma once

#include <memory>
#include <optional>

#include "devices/cpu/int8_product.h"
#include "devices/cpu/kernel.h"
#include "devices/cpu/packed_constants.h"
#include "devices/cpu/widened_loops.h"

namespace het::cpu {

/// The int8 product as one of widened bytes, or nothing where that cannot be: several
/// filters per channel, sums that may exceed 32 bits, a tail that the loops do not have.
std::optional<WidenedShape> widened_shape(const Node& node, const Int8Arithmetic& arithmetic);

/// A kernel with the inputs src and, for a Sum in the tail, the addend. Pictures have the
/// channels last. Packs the weights now.
Result<std::unique_ptr<Kernel>> make_widened_kernel(const WidenedShape& shape, const Node& node,
                                                    const Int8Arithmetic& arithmetic,
                                                    const NodePacking& packing);

}  // namespace het::cpu
