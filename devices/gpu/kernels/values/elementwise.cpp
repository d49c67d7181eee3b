#include "devices/gpu/plan/expression_text.h"
#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/plan/strided_space.h"
#include "devices/gpu/products/expression_kernel.h"
#include "devices/gpu/products/typed_expression.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

std::string refuse_elementwise(const Node& node) {
  if (elementwise_of(node)) return {};
  const auto expression = typed_expression(node);
  return expression ? "" : expression.error().message();
}

/// Floats, WIDTH at once.
Status plan_floats(PlanBuilder& builder, const Node& node, const ElementwiseNode& expression) {
  const Shape& shape = node.output()->desc().shape;
  const Format format = walked_format(builder, expression.operands, shape);
  std::vector<ExpressionOperand> operands;
  for (const Value* operand : expression.operands) {
    HET_ASSIGN(ExpressionOperand read, read_operand(builder, *operand, shape, format));
    operands.push_back(std::move(read));
  }
  ExpressionKernel kernel;
  kernel.apply = program_text(expression.program, kernel.numbers);
  kernel.vectors = true;
  return add_expression(builder, node, kernel, operands, *node.output(), format);
}

/// Elements of any types, one after the other.
Status plan_elementwise(PlanBuilder& builder, const Node& node) {
  if (const auto floats = elementwise_of(node)) return plan_floats(builder, node, *floats);
  HET_ASSIGN(const TypedExpression expression, typed_expression(node));
  const Value& output = *node.output();
  const Shape& shape = output.desc().shape;
  const Format format = walked_format(builder, expression.operands, shape);
  std::vector<ExpressionOperand> operands;
  for (const Value* operand : expression.operands) {
    HET_ASSIGN(ExpressionOperand read, read_operand(builder, *operand, shape, format));
    operands.push_back(std::move(read));
  }
  ExpressionKernel kernel;
  kernel.apply = expression.functions +
                 apply_text(builder, expression.text, operands, output, expression.bits);
  kernel.bits = expression.bits;
  return add_expression(builder, node, kernel, operands, output, format);
}

}  // namespace

HET_REGISTRATION void register_elementwise(KernelRegistry& registry) {
  for (const char* type : {"Abs",
                           "Acos",
                           "Acosh",
                           "Add",
                           "And",
                           "Asin",
                           "Asinh",
                           "Atan",
                           "Atanh",
                           "BatchNormalization",
                           "BitShift",
                           "BitwiseAnd",
                           "BitwiseNot",
                           "BitwiseOr",
                           "BitwiseXor",
                           "Cast",
                           "CastLike",
                           "Ceil",
                           "Celu",
                           "Clip",
                           "Cos",
                           "Cosh",
                           "Div",
                           "Elu",
                           "Equal",
                           "Erf",
                           "Exp",
                           "Floor",
                           "Gelu",
                           "Greater",
                           "GreaterOrEqual",
                           "HardSigmoid",
                           "HardSwish",
                           "IsInf",
                           "IsNaN",
                           "LeakyRelu",
                           "Less",
                           "LessOrEqual",
                           "Log",
                           "Max",
                           "Mean",
                           "Min",
                           "Mish",
                           "Mod",
                           "Mul",
                           "Neg",
                           "Not",
                           "Or",
                           "PRelu",
                           "Pow",
                           "Reciprocal",
                           "Relu",
                           "Round",
                           "Selu",
                           "Shrink",
                           "Sigmoid",
                           "Sign",
                           "Sin",
                           "Sinh",
                           "Softplus",
                           "Softsign",
                           "Sqrt",
                           "Sub",
                           "Sum",
                           "SwiGLU",
                           "Swish",
                           "Tan",
                           "Tanh",
                           "ThresholdedRelu",
                           "Where",
                           "Xor"}) {
    registry.add("", type, {refuse_elementwise, plan_elementwise});
  }
  for (const char* type : {"Elementwise", "FakeQuantize", "HardSwish", "Swish"}) {
    registry.add("het", type, {refuse_elementwise, plan_elementwise});
  }
}

}  // namespace het::gpu
