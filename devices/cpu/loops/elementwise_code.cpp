#include "devices/cpu/loops/elementwise_code.h"

#include <cmath>
#include <optional>

namespace het::cpu {
namespace {

using Action = ElementwiseStep::Action;

Action action_of(const ElementwiseInstruction& op) {
  switch (op.kind) {
    case ElementwiseKind::Add:
      return Action::Add;
    case ElementwiseKind::Sub:
      return Action::Sub;
    case ElementwiseKind::Mul:
      return Action::Mul;
    case ElementwiseKind::Div:
      return Action::Div;
    case ElementwiseKind::Max:
      return Action::Max;
    case ElementwiseKind::Min:
      return Action::Min;
    case ElementwiseKind::PRelu:
      return Action::PRelu;
    case ElementwiseKind::Relu:
      return op.alpha == 0.0f ? Action::Relu : Action::LeakyRelu;
    case ElementwiseKind::Clip:
      return Action::Clip;
    case ElementwiseKind::Linear:
      return Action::Linear;
    case ElementwiseKind::HardSigmoid:
      return Action::HardSigmoid;
    case ElementwiseKind::HardSwish:
      return Action::HardSwish;
    case ElementwiseKind::Sigmoid:
      return Action::Sigmoid;
    case ElementwiseKind::Swish:
      // An infinity times 0 is NaN, which must reach the result.
      return op.alpha != 0.0f && std::isfinite(op.alpha) ? Action::Swish : Action::Function;
    case ElementwiseKind::GeluErf:
      return Action::GeluErf;
    case ElementwiseKind::GeluTanh:
      return Action::GeluTanh;
    case ElementwiseKind::Abs:
      return Action::Abs;
    case ElementwiseKind::Neg:
      return Action::Neg;
    case ElementwiseKind::Square:
      return Action::Square;
    case ElementwiseKind::Sqrt:
      return Action::Sqrt;
    case ElementwiseKind::Round:
      return Action::Round;
    case ElementwiseKind::ReplaceNaN:
      return Action::ReplaceNaN;
    default:
      return Action::Function;
  }
}

/// How an instruction takes its operands when the accumulator holds one register.
struct Operands {
  std::optional<size_t> loaded;  ///< register to take into the accumulator first
  std::optional<size_t> other;   ///< register beside the accumulator
  bool reversed = false;
};

/// `held`: the register in the accumulator, if any.
Operands operands_of(const ElementwiseInstruction& op, std::optional<size_t> held) {
  Operands result;
  const bool has_a = held && op.a == *held;
  if (!is_binary(op.kind)) {
    if (!has_a) result.loaded = op.a;
    return result;
  }
  if (!has_a && held && op.b == *held) {
    result.other = op.a;
    result.reversed = true;
    return result;
  }
  if (!has_a) result.loaded = op.a;
  result.other = op.b;
  return result;
}

}  // namespace

ElementwiseCode make_elementwise_code(const ElementwiseProgram& program) {
  ElementwiseCode code;
  code.operands = program.operands;
  const size_t count = program.instructions.size();
  const auto held_before = [&](size_t k) {
    return k == 0 ? std::nullopt : std::optional<size_t>(program.operands + k - 1);
  };
  // Results that an instruction takes from elsewhere than the accumulator get a place.
  std::vector<std::optional<uint8_t>> places(program.operands + count);
  for (size_t i = 0; i < program.operands; ++i) places[i] = static_cast<uint8_t>(i);
  for (size_t k = 0; k < count; ++k) {
    const Operands taken = operands_of(program.instructions[k], held_before(k));
    for (const std::optional<size_t>& source : {taken.loaded, taken.other}) {
      if (!source || places[*source]) continue;
      places[*source] = static_cast<uint8_t>(program.operands + code.saved++);
    }
  }
  for (size_t k = 0; k < count; ++k) {
    const ElementwiseInstruction& op = program.instructions[k];
    const Operands taken = operands_of(op, held_before(k));
    if (taken.loaded) code.steps.push_back({Action::Load, op.kind, *places[*taken.loaded]});
    const uint8_t other = taken.other ? *places[*taken.other] : uint8_t{0};
    code.steps.push_back({action_of(op), op.kind, other, taken.reversed, op.alpha, op.beta});
    if (const auto place = places[program.operands + k]) {
      code.steps.push_back({Action::Save, op.kind, *place});
    }
  }
  return code;
}

}  // namespace het::cpu
