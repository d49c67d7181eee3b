#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "inference/tensors/shape.h"
#include "inference/tensors/tensor.h"

namespace het {

/// Copies elements of `width` bytes (1, 2, 4 or 8) between two arrangements of the same `shape`:
/// the element at index (i0, i1, ...) moves from src + width * sum(i_d * src_strides[d]) to the
/// same place of dst. Strides count elements; those of src may be 0 or negative. Both areas must
/// hold every element that is addressed and must not overlap.
void strided_copy(const Shape& shape, size_t width, const std::byte* src,
                  std::span<const int64_t> src_strides, std::byte* dst,
                  std::span<const int64_t> dst_strides);

/// Copies all elements between dense host tensors of equal type and element count, whatever their
/// shapes; sub-byte types too. Does nothing when both are the same memory.
void copy_elements(const Tensor& src, Tensor& dst);

}  // namespace het
