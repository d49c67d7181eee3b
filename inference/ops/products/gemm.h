#pragma once

#include <cstdint>

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/tensors/shape.h"

namespace het {

/// Gemm: y = alpha * A' * B' + beta * C, A' and B' transposed on demand.
struct GemmAttributes {
  float alpha = 1;
  float beta = 1;
  bool trans_a = false;
  bool trans_b = false;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
};

/// Static shapes of rank 2; fails when the inner dimensions differ.
Result<GemmAttributes> gemm_attributes(const Node& node, const Shape& a, const Shape& b);

}  // namespace het
