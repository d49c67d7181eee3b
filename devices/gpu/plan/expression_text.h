#pragma once

#include <string>
#include <vector>

#include "inference/passes/fusions/elementwise_program.h"
#include "inference/passes/fusions/fused_tail.h"

namespace het::gpu {

/// A number as a literal of OpenCL C: "0.5f", "INFINITY".
std::string literal(float value);

/// Numbers of a generated text as arguments of its kernel: as literals they would make a kernel of
/// every layer, and compilers take their time for each. Parameters end with NUMBER_PARAMETERS,
/// calls of what was generated with NUMBER_VALUES; both begin with a comma or are nothing.
class KernelNumbers {
 public:
  /// The name of a parameter of that value.
  std::string name(float value);
  /// "#define NUMBER_PARAMETERS , float number0 ..." and the like.
  std::string macros() const;
  const std::vector<float>& values() const { return values_; }

 private:
  std::vector<float> values_;
};

/// Text of OpenCL C, with the numbers that its kernel takes behind its other arguments
/// (ProgramText::numbers).
struct NumberedText {
  std::string text;  ///< begins with the macros
  std::vector<float> numbers;
};

/// The instruction as an expression over `a` and, for binary kinds, `b`: text of OpenCL C for float
/// scalars and vectors alike. Uses functions of kernels/values/expressions.cl, whose type is
/// `floatw`.
std::string expression_text(const ElementwiseInstruction& instruction, const std::string& a,
                            const std::string& b, KernelNumbers& numbers);

/// "floatw apply(floatw r0, floatw r1 ... NUMBER_PARAMETERS)": the program over its operands.
std::string program_text(const ElementwiseProgram& program, KernelNumbers& numbers);

/// "floatw tail(floatw x, floatw sum NUMBER_PARAMETERS)": what a convolution or product does to its
/// result before it stores it. x itself for an empty tail.
NumberedText tail_text(const FusedTail& tail);
bool adds_sum(const FusedTail& tail);

}  // namespace het::gpu
