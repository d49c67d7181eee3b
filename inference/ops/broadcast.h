#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "inference/tensors/shape.h"

namespace het {

/// How the elements of broadcast inputs meet in a dense output: nested loops over `dims`, in which
/// input i advances by strides[i][d] elements per step of dimension d (0 where it repeats).
/// Neighbouring dimensions that every input walks alike are merged, so equal shapes give one loop.
struct BroadcastPlan {
  Shape dims;  ///< at least one; product = elements of the output
  std::vector<std::vector<int64_t>> strides;
};

/// Plans for inputs that broadcast() to `output`; static shapes.
BroadcastPlan plan_broadcast(const Shape& output, std::span<const Shape> inputs);

/// Calls row(dst, src) for every run along the plan's last dimension, with the element offsets of
/// its start in the output and in the inputs. The run has plan.dims.back() elements, input i
/// advances by plan.strides[i].back(). Nothing is called for an empty output.
template <size_t kInputs, class Row>
void for_each_row(const BroadcastPlan& plan, Row&& row) {
  const int64_t length = plan.dims.back();
  const size_t outer = plan.dims.size() - 1;
  for (const int64_t dim : plan.dims) {
    if (dim == 0) return;
  }
  std::vector<int64_t> position(outer);
  std::array<int64_t, kInputs> src{};
  int64_t dst = 0;
  while (true) {
    row(dst, src);
    dst += length;
    size_t d = outer;
    while (d > 0) {
      --d;
      for (size_t i = 0; i < kInputs; ++i) src[i] += plan.strides[i][d];
      if (++position[d] < plan.dims[d]) break;
      for (size_t i = 0; i < kInputs; ++i) src[i] -= plan.strides[i][d] * plan.dims[d];
      position[d] = 0;
      if (d == 0) return;
    }
    if (outer == 0) return;
  }
}

}  // namespace het
