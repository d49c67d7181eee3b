#pragma once

#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/model.h"

namespace het::gpu {

/// What a node computes per element of its output, as OpenCL C over scalars.
struct TypedExpression {
  std::string functions;         ///< stands before; may be empty
  std::string text;              ///< over r0, r1 ..., the operands, of the operands' value types
  std::vector<Value*> operands;  ///< broadcast to the output
  bool bits = false;             ///< elements move as they are
};

/// The expression of an element-wise node of any types, or why there is none: arithmetic,
/// comparisons, logic, bits, Cast, Where, Clip, functions of one float, Max, Min, Sum, Mean,
/// FakeQuantize.
Result<TypedExpression> typed_expression(const Node& node);

}  // namespace het::gpu
