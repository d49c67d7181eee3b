#pragma once

#include <cstdint>
#include <vector>

#include "inference/base/status.h"
#include "inference/ops/op.h"
#include "inference/tensors/shape.h"

namespace het {

/// A Slice with everything resolved: output element (i0, i1, ...) is input element
/// (starts[0] + i0 * steps[0], ...). One entry per dimension of the input.
struct SliceRange {
  std::vector<int64_t> starts;
  std::vector<int64_t> steps;
  Shape shape;  ///< of the output
};

/// Resolves ONNX' Slice: negative positions count from the end, everything is clamped to the
/// dimension. Empty `axes` means the first starts.size() axes, empty `steps` means 1. Fails when
/// the lists differ in length, an axis is wrong or repeated, or a step is 0.
Result<SliceRange> slice_range(const Shape& input, const std::vector<int64_t>& starts,
                               const std::vector<int64_t>& ends, std::vector<int64_t> axes,
                               std::vector<int64_t> steps);

/// slice_range() of a Slice node's inputs 1 to 4 (null: omitted).
Result<SliceRange> slice_range(const Shape& input, const Tensor& starts, const Tensor& ends,
                               const Tensor* axes, const Tensor* steps);

}  // namespace het
