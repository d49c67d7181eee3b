#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/tensors/shape.h"

namespace het {

/// An Einstein sum as nested loops: the output is the sum, over the last loops, of the products of
/// the inputs' elements.
struct EinsumPlan {
  Shape output_shape;
  /// Sizes of the loops: the output's dimensions in order, then the dimensions summed over.
  Shape loops;
  /// Per input and loop: elements that the input advances by; 0 where it repeats.
  std::vector<std::vector<int64_t>> strides;
};

/// Parses `equation` ("bij,bjk->bik", with spaces, "..." and the implicit form) for inputs of these
/// static shapes. Ellipses broadcast as in NumPy, and so do dimensions of size 1. Fails on a
/// malformed equation, on ranks or sizes that do not fit, and when the loops overflow.
Result<EinsumPlan> einsum_plan(std::string_view equation, const std::vector<Shape>& inputs);

}  // namespace het
