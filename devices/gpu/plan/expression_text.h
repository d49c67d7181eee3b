#pragma once

#include <string>

#include "inference/passes/fusions/elementwise_program.h"
#include "inference/passes/fusions/fused_tail.h"

namespace het::gpu {

/// A number as a literal of OpenCL C: "0.5f", "INFINITY".
std::string literal(float value);

/// The instruction as an expression over `a` and, for binary kinds, `b`: text of OpenCL C for float
/// scalars and vectors alike. Uses functions of kernels/values/expressions.cl, whose type is
/// `floatw`.
std::string expression_text(const ElementwiseInstruction& instruction, const std::string& a,
                            const std::string& b);

/// "floatw apply(floatw r0, floatw r1 ...)": the program over its operands.
std::string program_text(const ElementwiseProgram& program);

/// "floatw tail(floatw x, floatw sum)": what a convolution or product does to its result before it
/// stores it. x itself for an empty tail.
std::string tail_text(const FusedTail& tail);
bool adds_sum(const FusedTail& tail);

}  // namespace het::gpu
