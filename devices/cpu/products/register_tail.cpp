#include "devices/cpu/products/register_tail.h"

#include <limits>

namespace het::cpu {

RegisterTail make_register_tail(const FusedTail& tail) {
  RegisterTail result;
  ElementwiseProgram rest;
  for (const TailStep& step : tail) {
    if (step.sum) {
      result.has_sum = true;
      continue;
    }
    const ElementwiseInstruction& op = step.expression;
    const bool relu = op.kind == ElementwiseKind::Relu && op.alpha == 0.0f;
    const bool clip = op.kind == ElementwiseKind::Clip && op.alpha <= 0.0f && op.beta >= 0.0f;
    if (rest.instructions.empty() && !result.clip && (relu || clip)) {
      result.clip = true;
      result.low = relu ? 0.0f : op.alpha;
      result.high = relu ? std::numeric_limits<float>::infinity() : op.beta;
      continue;
    }
    rest.operands = 1;
    ElementwiseInstruction next = op;
    next.a = static_cast<uint8_t>(rest.instructions.size());
    rest.instructions.push_back(next);
  }
  result.rest = make_elementwise_code(rest);
  return result;
}

}  // namespace het::cpu
