#include "devices/gpu/products/typed_expression.h"

#include <algorithm>

#include "devices/gpu/plan/expression_text.h"
#include "devices/gpu/plan/strided_move.h"
#include "devices/gpu/products/expression_kernel.h"
#include "devices/gpu/programs/kernel_sources.h"
#include "inference/ops/elementwise/binary.h"
#include "inference/ops/elementwise/unary.h"

namespace het::gpu {
namespace {

ElementType type_of(const Value* value) {
  return value->desc().type;
}

/// A cast to the operands' type: "(uchar)".
std::string wrapped(ElementType type, const std::string& text) {
  return fmt::format("({})({})", value_type(type), text);
}

std::string real_unary(const UnaryExpression& unary) {
  const std::string a = literal(unary.alpha);
  const std::string b = literal(unary.beta);
  switch (unary.kind) {
    case UnaryKind::Acos:
      return "acos(r0)";
    case UnaryKind::Acosh:
      return "acosh(r0)";
    case UnaryKind::Asin:
      return "asin(r0)";
    case UnaryKind::Asinh:
      return "asinh(r0)";
    case UnaryKind::Atan:
      return "atan(r0)";
    case UnaryKind::Atanh:
      return "atanh(r0)";
    case UnaryKind::Celu:
      return fmt::format(
          "(r0 < 0.0f ? 0.0f : r0) + ({0} * expm1(r0 / {0}) > 0.0f ? 0.0f : {0} * expm1(r0 / {0}))",
          a);
    case UnaryKind::Cos:
      return "cos(r0)";
    case UnaryKind::Cosh:
      return "cosh(r0)";
    case UnaryKind::Selu:
      return fmt::format("{} * (r0 <= 0.0f ? {} * expm1(r0) : r0)", b, a);
    case UnaryKind::Shrink:
      return fmt::format("r0 < -({0}) ? r0 + {1} : r0 > {0} ? r0 - {1} : 0.0f", a, b);
    case UnaryKind::Sign:
      return "real_sign(r0)";
    case UnaryKind::Sin:
      return "sin(r0)";
    case UnaryKind::Sinh:
      return "sinh(r0)";
    case UnaryKind::Softsign:
      return "r0 / (1.0f + fabs(r0))";
    case UnaryKind::Tan:
      return "tan(r0)";
    case UnaryKind::ThresholdedRelu:
      return fmt::format("r0 > {} ? r0 : 0.0f", a);
    default:
      return {};
  }
}

std::string integer_unary(UnaryKind kind, ElementType type) {
  switch (kind) {
    case UnaryKind::Abs:
      return "r0 < 0 ? " + wrapped(type, "0 - (ulong)r0") + " : r0";
    case UnaryKind::Neg:
      return wrapped(type, "0 - (ulong)r0");
    case UnaryKind::Relu:
      return fmt::format("r0 < 0 ? ({})0 : r0", value_type(type));
    case UnaryKind::Sign:
      return wrapped(type, "(r0 > 0) - (r0 < 0)");
    default:
      return {};
  }
}

std::string unary_text(const Node& node) {
  const ElementType type = type_of(node.input(0));
  if (node.op_type() == "Not") return "!r0";
  if (node.op_type() == "BitwiseNot") return wrapped(type, "~r0");
  if (node.op_type() == "IsNaN") return "isnan(r0) != 0";
  if (node.op_type() == "IsInf") {
    const bool negative = node.attributes().get_int("detect_negative", 1) != 0;
    const bool positive = node.attributes().get_int("detect_positive", 1) != 0;
    return fmt::format("isinf(r0) != 0 && (r0 < 0.0f ? {} : {})", negative, positive);
  }
  const auto unary = unary_expression(node.op_type(), node.attributes());
  if (!unary) return {};
  return value_type(type) == "float" ? real_unary(*unary) : integer_unary(unary->kind, type);
}

/// An operation that wraps around in integers.
std::string sum_text(const char* sign, ElementType type, const std::string& a,
                     const std::string& b) {
  if (value_type(type) == "float") return fmt::format("{} {} {}", a, sign, b);
  return wrapped(type, fmt::format("(ulong){} {} (ulong){}", a, sign, b));
}

std::string binary_text(BinaryKind kind, ElementType type, const std::string& a,
                        const std::string& b) {
  const bool real = value_type(type) == "float";
  const auto function = [&](std::string_view name) {
    return fmt::format("{}_{}({}, {})", real ? "real" : "integer", name, a, b);
  };
  const auto infix = [&](std::string_view sign) { return fmt::format("{} {} {}", a, sign, b); };
  switch (kind) {
    case BinaryKind::Add:
      return sum_text("+", type, a, b);
    case BinaryKind::Sub:
      return sum_text("-", type, a, b);
    case BinaryKind::Mul:
      return sum_text("*", type, a, b);
    case BinaryKind::Div:
      return real ? infix("/") : function("div");
    case BinaryKind::Pow:
      return real ? fmt::format("pow({}, (float){})", a, b) : function("pow");
    case BinaryKind::FloorMod:
      return function("mod");
    case BinaryKind::Fmod:
      return real ? fmt::format("fmod({}, {})", a, b) : function("fmod");
    case BinaryKind::PRelu:
      return fmt::format("{} < 0 ? {} : {}", a, sum_text("*", type, a, b), a);
    case BinaryKind::Max:  // NaN in either wins
      return real ? fmt::format("{0} > {1} || {0} != {0} ? {0} : {1}", a, b)
                  : fmt::format("max({}, {})", a, b);
    case BinaryKind::Min:
      return real ? fmt::format("{0} < {1} || {0} != {0} ? {0} : {1}", a, b)
                  : fmt::format("min({}, {})", a, b);
    case BinaryKind::Equal:
      return infix("==");
    case BinaryKind::Greater:
      return infix(">");
    case BinaryKind::GreaterOrEqual:
      return infix(">=");
    case BinaryKind::Less:
      return infix("<");
    case BinaryKind::LessOrEqual:
      return infix("<=");
    case BinaryKind::And:
      return infix("&&");
    case BinaryKind::Or:
      return infix("||");
    case BinaryKind::Xor:
      return infix("!=");
    case BinaryKind::BitwiseAnd:
      return wrapped(type, infix("&"));
    case BinaryKind::BitwiseOr:
      return wrapped(type, infix("|"));
    case BinaryKind::BitwiseXor:
      return wrapped(type, infix("^"));
    case BinaryKind::ShiftLeft:
      return function("left");
    case BinaryKind::ShiftRight:
      return function("right");
  }
  return {};
}

/// Floats outside an integer's range give its nearest end, NaN gives 0; integers keep their low
/// bits.
std::string cast_text(ElementType from, ElementType to) {
  const std::string_view target = value_type(to);
  if (to == ElementType::Bool) return "r0 != 0";
  if (value_type(from) == "float" && target != "float") {
    return fmt::format("isnan(r0) ? ({0})0 : convert_{0}_sat_rtz(r0)", target);
  }
  return fmt::format("({})r0", target);
}

/// Max, Min, Sum and Mean over any number of operands.
std::string variadic_functions(const Node& node, BinaryKind kind) {
  const ElementType type = type_of(node.output());
  const std::string_view name = value_type(type);
  std::string text = fmt::format("{0} combine({0} a, {0} b) {{ return {1}; }}\n", name,
                                 binary_text(kind, type, "a", "b"));
  return text;
}

Result<TypedExpression> variadic(const Node& node) {
  const std::string& type = node.op_type();
  const BinaryKind kind = type == "Max"   ? BinaryKind::Max
                          : type == "Min" ? BinaryKind::Min
                                          : BinaryKind::Add;
  TypedExpression expression{variadic_functions(node, kind), "r0", node.inputs()};
  for (size_t i = 1; i < node.inputs().size(); ++i) {
    expression.text = fmt::format("combine({}, r{})", expression.text, i);
  }
  if (type == "Mean") {
    expression.text = fmt::format("({}) / {}.0f", expression.text, node.inputs().size());
  }
  return expression;
}

TypedExpression clip(const Node& node) {
  TypedExpression expression{"", "r0", {node.input(0)}};
  const std::string_view name = value_type(type_of(node.input(0)));
  for (size_t i = 1; i < 3; ++i) {
    if (node.input(i) == nullptr) continue;
    const char sign = i == 1 ? '<' : '>';
    expression.functions +=
        fmt::format("{0} bound{1}({0} a, {0} b) {{ return a {2} b ? b : a; }}\n", name, i, sign);
    expression.text =
        fmt::format("bound{}({}, r{})", i, expression.text, expression.operands.size());
    expression.operands.push_back(node.input(i));
  }
  return expression;
}

Result<TypedExpression> expression_of(const Node& node) {
  const std::string& type = node.op_type();
  if (type == "Where") return TypedExpression{"", "r0 ? r1 : r2", node.inputs(), true};
  if (type == "Cast" || type == "CastLike") {
    return TypedExpression{
        "", cast_text(type_of(node.input(0)), type_of(node.output())), {node.input(0)}};
  }
  if (type == "Clip") return clip(node);
  if (type == "SwiGLU") {
    const std::string alpha = literal(node.attributes().get_float("alpha", 1.0f));
    return TypedExpression{"", fmt::format("r0 / (1.0f + exp(-({} * r0))) * r1", alpha),
                           node.inputs()};
  }
  if (type == "Max" || type == "Min" || type == "Sum" || type == "Mean") return variadic(node);
  if (type == "FakeQuantize") {
    return TypedExpression{"",
                           fmt::format("fake_quantized(r0, r1, r2, r3, r4, {}.0f)",
                                       node.attributes().get_int("levels", 2) - 1),
                           node.inputs()};
  }
  std::optional<BinaryKind> binary = binary_kind(type, node.attributes());
  if (type == "Pow") binary = BinaryKind::Pow;
  if (binary) {
    const ElementType operands = type_of(node.input(0));
    if (*binary == BinaryKind::Pow && value_type(operands) != "float" &&
        value_type(type_of(node.input(1))) == "float") {
      return error(StatusCode::NotSupported, "no GPU kernel raises integers to float powers");
    }
    return TypedExpression{"", binary_text(*binary, operands, "r0", "r1"), node.inputs()};
  }
  return TypedExpression{"", unary_text(node), {node.input(0)}};
}

/// Functions whose names begin with integer_, for one type.
std::string integer_functions(std::string_view type) {
  constexpr std::string_view kPlaceholder = "TYPE";
  std::string text(*kernel_source("integer_functions"));
  for (size_t at = text.find(kPlaceholder); at != std::string::npos;
       at = text.find(kPlaceholder, at + type.size())) {
    text.replace(at, kPlaceholder.size(), type);
  }
  return text;
}

}  // namespace

Result<TypedExpression> typed_expression(const Node& node) {
  constexpr size_t kMostOperands = 32;
  for (const auto* list : {&node.inputs(), &node.outputs()}) {
    for (const Value* value : *list) {
      if (value == nullptr || !value_type(type_of(value)).empty()) continue;
      if (node.op_type() == "Where" && !item_type(type_of(value)).empty()) continue;
      return error(StatusCode::NotSupported, "no GPU kernel computes with {}",
                   to_string(type_of(value)));
    }
  }
  HET_ASSIGN(TypedExpression expression, expression_of(node));
  if (expression.text.empty()) {
    return error(StatusCode::NotSupported, "no GPU kernel computes {} of {}", node.op_type(),
                 to_string(type_of(node.input(0))));
  }
  if (expression.operands.size() > kMostOperands) {
    return error(StatusCode::NotSupported, "it has {} inputs, GPU kernels take {}",
                 expression.operands.size(), kMostOperands);
  }
  const std::string_view type = value_type(type_of(node.input(0)));
  if (expression.text.find("integer_") != std::string::npos) {
    expression.functions = integer_functions(type) + expression.functions;
  }
  return expression;
}

}  // namespace het::gpu
