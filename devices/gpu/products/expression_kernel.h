#pragma once

#include <string>
#include <vector>

#include "devices/gpu/plan/expression_text.h"
#include "devices/gpu/plan/plan_builder.h"
#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/tensors/element_type.h"

namespace het::gpu {

/// A tensor that a generated kernel walks: its strides along the physical dimensions of the
/// output, 0 where it repeats.
struct ExpressionOperand {
  TensorId id = kNoTensor;
  std::vector<int64_t> strides;
};

/// A kernel whose every element of dst is an expression of its operands' elements.
struct ExpressionKernel {
  /// OpenCL C that defines "apply" over the operands: of floatw where `vectors`, else of the
  /// scalar types that value_type() names.
  std::string apply;
  KernelNumbers numbers;  ///< that it takes behind its operands
  /// Operands and dst are of the stored type, and WIDTH elements are computed at once.
  bool vectors = false;
  /// Elements are moved as they are, whatever they mean: operands and dst are unsigned integers of
  /// the elements' size.
  bool bits = false;
};

/// The scalar type in which a generated kernel sees elements of a type: float for all float types
/// of up to 32 bits, bool for Bool; empty for types that it cannot read.
std::string_view value_type(ElementType type);

/// "T apply(T0 r0, T1 r1 ...) { return text; }" over scalars.
std::string apply_text(const PlanBuilder& builder, std::string_view text,
                       const std::vector<ExpressionOperand>& operands, const Value& output,
                       bool bits = false);

/// Reads an operand for an output of `shape` that is walked in `format`.
Result<ExpressionOperand> read_operand(PlanBuilder& builder, const Value& operand,
                                       const Shape& shape, Format format);

/// Plans a step that fills `output`, written in `format`.
Status add_expression(PlanBuilder& builder, const Node& node, const ExpressionKernel& kernel,
                      const std::vector<ExpressionOperand>& operands, const Value& output,
                      Format format);

}  // namespace het::gpu
