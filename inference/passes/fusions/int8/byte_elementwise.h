#pragma once

#include <optional>
#include <vector>

#include "inference/passes/fusions/elementwise_program.h"

namespace het {

/// Bytes and whole numbers in 32 bits stand for (number - zero) * scale; a scale of 0 says that the
/// values are floats.
struct ByteSteps {
  float scale = 0.0f;
  int32_t zero = 0;

  bool is_float() const { return scale == 0.0f; }
};

/// het.ElementwiseBytes: a chain of scalar expressions some of whose operands are bytes, or whose
/// result is stored in bytes, as DequantizeLinear and QuantizeLinear around it would do. Operands
/// in 32 bits have the scale 1 and the zero point 0, as a Cast would read them.
struct ByteElementwise {
  ElementwiseProgram program;
  std::vector<ByteSteps> operands;
  ByteSteps result;
};
std::optional<ByteElementwise> byte_elementwise_of(const Node& node);
Attributes to_attributes(const ByteElementwise& expression);

}  // namespace het
