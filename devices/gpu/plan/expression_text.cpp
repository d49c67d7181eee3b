#include "devices/gpu/plan/expression_text.h"

#include <algorithm>
#include <cmath>

namespace het::gpu {

std::string literal(float value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "(-INFINITY)";
  std::string text = fmt::format("{:.9g}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return value < 0 || std::signbit(value) ? "(" + text + "f)" : text + "f";
}

std::string KernelNumbers::name(float value) {
  values_.push_back(value);
  return fmt::format("number{}", values_.size() - 1);
}

std::string KernelNumbers::macros() const {
  std::string parameters;
  std::string names;
  for (size_t i = 0; i < values_.size(); ++i) {
    parameters += fmt::format(", float number{}", i);
    names += fmt::format(", number{}", i);
  }
  return fmt::format("#define NUMBER_PARAMETERS {}\n#define NUMBER_VALUES {}\n", parameters, names);
}

std::string expression_text(const ElementwiseInstruction& instruction, const std::string& a,
                            const std::string& b, KernelNumbers& numbers) {
  const auto alpha = [&] { return numbers.name(instruction.alpha); };
  const auto beta = [&] { return numbers.name(instruction.beta); };
  switch (instruction.kind) {
    case ElementwiseKind::Add:
      return fmt::format("{} + {}", a, b);
    case ElementwiseKind::Sub:
      return fmt::format("{} - {}", a, b);
    case ElementwiseKind::Mul:
      return fmt::format("{} * {}", a, b);
    case ElementwiseKind::Div:
      return fmt::format("{} / {}", a, b);
    case ElementwiseKind::Max:
      return fmt::format("het_max({}, {})", a, b);
    case ElementwiseKind::Min:
      return fmt::format("het_min({}, {})", a, b);
    case ElementwiseKind::Pow:
      return fmt::format("pow({}, {})", a, b);
    case ElementwiseKind::PRelu:
      return fmt::format("het_prelu({}, {})", a, b);
    case ElementwiseKind::Relu:
      // A slope of 0 would make NaN of -infinity.
      if (instruction.alpha == 0.0f) return fmt::format("het_relu({})", a);
      return fmt::format("het_prelu({}, (floatw)({}))", a, alpha());
    case ElementwiseKind::Clip: {
      const std::string low = alpha();
      return fmt::format("het_min(het_max({}, (floatw)({})), (floatw)({}))", a, low, beta());
    }
    case ElementwiseKind::Linear: {
      const std::string factor = alpha();
      return fmt::format("{} * {} + {}", factor, a, beta());
    }
    case ElementwiseKind::Sigmoid:
      return fmt::format("het_sigmoid({})", a);
    case ElementwiseKind::Tanh:
      return fmt::format("tanh({})", a);
    case ElementwiseKind::Swish:
      return fmt::format("{} * het_sigmoid({} * {})", a, alpha(), a);
    case ElementwiseKind::HardSigmoid: {
      const std::string factor = alpha();
      return fmt::format("het_clip01({} * {} + {})", factor, a, beta());
    }
    case ElementwiseKind::HardSwish:
      return fmt::format("{} * het_clip01({} / 6.0f + 0.5f)", a, a);
    case ElementwiseKind::Elu:
      return fmt::format("het_elu({}, {})", a, alpha());
    case ElementwiseKind::GeluErf:
      return fmt::format("0.5f * {} * (1.0f + erf({} * 0.70710678118654752f))", a, a);
    case ElementwiseKind::GeluTanh:
      return fmt::format("het_gelu_tanh({})", a);
    case ElementwiseKind::Exp:
      return fmt::format("exp({})", a);
    case ElementwiseKind::Log:
      return fmt::format("log({})", a);
    case ElementwiseKind::Sqrt:
      return fmt::format("sqrt({})", a);
    case ElementwiseKind::Reciprocal:
      return fmt::format("1.0f / {}", a);
    case ElementwiseKind::Abs:
      return fmt::format("fabs({})", a);
    case ElementwiseKind::Neg:
      return fmt::format("-{}", a);
    case ElementwiseKind::Square:
      return fmt::format("{} * {}", a, a);
    case ElementwiseKind::Floor:
      return fmt::format("floor({})", a);
    case ElementwiseKind::Ceil:
      return fmt::format("ceil({})", a);
    case ElementwiseKind::Round:
      return fmt::format("rint({})", a);
    case ElementwiseKind::Erf:
      return fmt::format("erf({})", a);
    case ElementwiseKind::SoftPlus:
      return fmt::format("het_softplus({})", a);
    case ElementwiseKind::Mish:
      return fmt::format("{} * tanh(het_softplus({}))", a, a);
    case ElementwiseKind::ReplaceNaN:
      return fmt::format("isnan({}) ? (floatw)({}) : {}", a, alpha(), a);
  }
  return a;
}

std::string program_text(const ElementwiseProgram& program, KernelNumbers& numbers) {
  std::string text = "floatw apply(";
  for (size_t i = 0; i < program.operands; ++i) {
    text += fmt::format("{}floatw r{}", i == 0 ? "" : ", ", i);
  }
  text += " NUMBER_PARAMETERS) {\n";
  size_t next = program.operands;
  for (const ElementwiseInstruction& instruction : program.instructions) {
    text += fmt::format("  const floatw r{} = {};\n", next,
                        expression_text(instruction, fmt::format("r{}", instruction.a),
                                        fmt::format("r{}", instruction.b), numbers));
    ++next;
  }
  return text + fmt::format("  return r{};\n}}\n", next - 1);
}

NumberedText tail_text(const FusedTail& tail) {
  KernelNumbers numbers;
  std::string text = "floatw tail(floatw x, floatw sum NUMBER_PARAMETERS) {\n";
  for (const TailStep& step : tail) {
    text += step.sum
                ? "  x += sum;\n"
                : fmt::format("  x = {};\n", expression_text(step.expression, "x", "x", numbers));
  }
  return {numbers.macros() + text + "  return x;\n}\n", numbers.values()};
}

bool adds_sum(const FusedTail& tail) {
  return std::any_of(tail.begin(), tail.end(), [](const TailStep& step) { return step.sum; });
}

}  // namespace het::gpu
