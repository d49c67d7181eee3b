#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "inference/ops/onnx_type.h"
#include "inference/ops/op_checks.h"
#include "inference/readers/openvino_ir/translate.h"

/// Arithmetic, comparisons, logic and conversions, element by element.
namespace het::ir {
namespace {

constexpr std::pair<std::string_view, const char*> kBinary[] = {
    {"Add", "Add"},
    {"Subtract", "Sub"},
    {"Multiply", "Mul"},
    {"Maximum", "Max"},
    {"Minimum", "Min"},
    {"Equal", "Equal"},
    {"Less", "Less"},
    {"LessEqual", "LessOrEqual"},
    {"Greater", "Greater"},
    {"GreaterEqual", "GreaterOrEqual"},
    {"LogicalAnd", "And"},
    {"LogicalOr", "Or"},
    {"LogicalXor", "Xor"},
    {"BitwiseAnd", "BitwiseAnd"},
    {"BitwiseOr", "BitwiseOr"},
    {"BitwiseXor", "BitwiseXor"},
};

/// The second operand so that NumPy's rules align it as auto_broadcast says. PDPD (Paddle) aligns
/// its first dimension with dimension `axis` of the first operand.
Value* second_operand(LayerContext& context) {
  Value* b = context.input(1);
  if (context.text("auto_broadcast", "numpy") != "pdpd" || !context.has_input(1)) return b;
  const int64_t rank = context.input_rank(0);
  const int64_t own = context.input_rank(1);
  int64_t axis = context.integer("axis", -1);
  if (axis < 0) axis = rank - own;
  if (axis < 0 || axis > rank - own) {
    context.fail(Status(
        StatusCode::ParseError,
        fmt::format("axis {} does not fit inputs of {} and {} dimensions (auto_broadcast pdpd)",
                    axis, rank, own)));
    return b;
  }
  std::vector<int64_t> axes;
  for (int64_t i = own; i < rank - axis; ++i) axes.push_back(i);
  return axes.empty() ? b : context.unsqueezed(b, axes);
}

/// "BitwiseAnd" is "And" for booleans.
std::string logical_name(LayerContext& context, std::string_view onnx) {
  constexpr std::string_view kBitwise = "Bitwise";
  const bool is_logical =
      onnx.substr(0, kBitwise.size()) == kBitwise && context.input_type(0) == ElementType::Bool;
  return std::string(is_logical ? onnx.substr(kBitwise.size()) : onnx);
}

void power(LayerContext& context) {
  const ElementType type = context.input_type(0);
  // ONNX has no powers of the other integers.
  if (is_integer(type) && !kIndexTypes.contains(type)) context.compute_in(ElementType::Int64);
  context.finish("Pow", {context.input(0), second_operand(context)});
}

void binary(LayerContext& context) {
  for (const auto& [type, onnx] : kBinary) {
    if (type == context.layer().type) {
      return context.finish(logical_name(context, onnx),
                            {context.input(0), second_operand(context)});
    }
  }
}

/// Booleans have an order, which ONNX does not give them: false is less than true.
void ordering(LayerContext& context) {
  if (context.input_type(0) != ElementType::Bool) return binary(context);
  const std::string_view type = context.layer().type;
  const auto number = [&](Value* value) { return context.cast(value, ElementType::UInt8); };
  context.finish(type == "Less"        ? "Less"
                 : type == "LessEqual" ? "LessOrEqual"
                 : type == "Greater"   ? "Greater"
                                       : "GreaterOrEqual",
                 {number(context.input(0)), number(second_operand(context))});
}

void not_equal(LayerContext& context) {
  context.finish("Not", {context.add("Equal", {context.input(0), second_operand(context)})});
}

/// a - b * floor(a / b): the remainder has the divisor's sign.
Value* floor_remainder(LayerContext& context, Value* b) {
  Value* const a = context.input(0);
  if (is_integer(context.input_type(0))) return context.add("Mod", {a, b});
  Value* const quotient = context.add("Floor", {context.add("Div", {a, b})});
  return context.add("Sub", {a, context.add("Mul", {b, quotient})});
}

/// Integers are divided as Python does unless m_pythondiv says otherwise: rounded down.
void divide(LayerContext& context) {
  Value* const a = context.input(0);
  Value* const b = second_operand(context);
  if (!is_integer(context.input_type(0)) || !context.flag("m_pythondiv", true)) {
    return context.finish("Div", {a, b});
  }
  context.finish("Div", {context.add("Sub", {a, floor_remainder(context, b)}), b});
}

void floor_mod(LayerContext& context) {
  Value* const b = second_operand(context);
  if (is_integer(context.input_type(0))) return context.finish("Mod", {context.input(0), b});
  Value* const quotient = context.add("Floor", {context.add("Div", {context.input(0), b})});
  context.finish("Sub", {context.input(0), context.add("Mul", {b, quotient})});
}

/// The remainder has the dividend's sign, as C's fmod.
void mod(LayerContext& context) {
  Attributes attributes;
  attributes.set("fmod", int64_t{1});
  context.finish("Mod", {context.input(0), second_operand(context)}, std::move(attributes));
}

void squared_difference(LayerContext& context) {
  Value* const difference = context.add("Sub", {context.input(0), second_operand(context)});
  context.finish("Mul", {difference, difference});
}

void shift(LayerContext& context) {
  Attributes attributes;
  const bool left = context.layer().type == "BitwiseLeftShift";
  attributes.set("direction", std::string(left ? "LEFT" : "RIGHT"));
  context.finish("BitShift", {context.input(0), second_operand(context)}, std::move(attributes));
}

constexpr std::pair<std::string_view, const char*> kUnary[] = {
    {"Abs", "Abs"},        {"Acos", "Acos"},
    {"Acosh", "Acosh"},    {"Asin", "Asin"},
    {"Asinh", "Asinh"},    {"Atan", "Atan"},
    {"Atanh", "Atanh"},    {"Cos", "Cos"},
    {"Cosh", "Cosh"},      {"Erf", "Erf"},
    {"Exp", "Exp"},        {"Log", "Log"},
    {"Negative", "Neg"},   {"Sign", "Sign"},
    {"Sin", "Sin"},        {"Sinh", "Sinh"},
    {"Sqrt", "Sqrt"},      {"Tan", "Tan"},
    {"LogicalNot", "Not"}, {"BitwiseNot", "BitwiseNot"},
    {"IsNaN", "IsNaN"},    {"Identity", "Identity"},
};

/// What whole numbers are already.
void to_integer(LayerContext& context) {
  if (is_integer(context.input_type(0))) return context.finish("Identity", {context.input(0)});
  context.finish(context.layer().type == "Ceiling" ? "Ceil" : "Floor", {context.input(0)});
}

void unary(LayerContext& context) {
  for (const auto& [type, onnx] : kUnary) {
    if (type == context.layer().type) {
      return context.finish(logical_name(context, onnx), {context.input(0)});
    }
  }
}

void is_inf(LayerContext& context) {
  Attributes attributes;
  attributes.set("detect_negative", int64_t{context.flag("detect_negative", true)});
  attributes.set("detect_positive", int64_t{context.flag("detect_positive", true)});
  context.finish("IsInf", {context.input(0)}, std::move(attributes));
}

void is_finite(LayerContext& context) {
  Value* const odd = context.add(
      "Or", {context.add("IsNaN", {context.input(0)}), context.add("IsInf", {context.input(0)})});
  context.finish("Not", {odd});
}

void round(LayerContext& context) {
  Value* const x = context.input(0);
  if (is_integer(context.input_type(0))) return context.finish("Identity", {x});
  const std::string mode = context.text("mode", "half_to_even");
  if (mode == "half_to_even") return context.finish("Round", {x});
  if (mode != "half_away_from_zero") {
    return context.fail(
        Status(StatusCode::ParseError, fmt::format("attribute 'mode': '{}' is unknown", mode)));
  }
  Value* const half = context.scalar("half", context.input_type(0), 0.5);
  Value* const magnitude =
      context.add("Floor", {context.add("Add", {context.add("Abs", {x}), half})});
  context.finish("Mul", {context.add("Sign", {x}), magnitude});
}

/// Bounds of integers are rounded inwards.
void clamp(LayerContext& context) {
  const ElementType type = context.input_type(0);
  double low = context.real("min", -std::numeric_limits<float>::infinity());
  double high = context.real("max", std::numeric_limits<float>::infinity());
  if (!(low <= high)) {
    return context.fail(Status(StatusCode::ParseError,
                               fmt::format("min is {}, which is not below max, {}", low, high)));
  }
  if (!is_integer(type)) {
    return context.finish("Clip", {context.input(0), context.scalar("min", type, low),
                                   context.scalar("max", type, high)});
  }
  // Converted through int64, so that bounds outside a narrow type saturate instead of wrapping.
  const auto bound = [&](std::string_view name, double value) -> Value* {
    const double limit = std::min(0x1p62, std::max(-0x1p62, value));
    Tensor wide = Tensor::scalar<int64_t>(static_cast<int64_t>(limit));
    return context.constant(name, std::move(wide));
  };
  Value* const wide = context.cast(context.input(0), ElementType::Int64);
  Value* const clipped =
      context.add("Clip", {wide, bound("min", std::ceil(low)), bound("max", std::floor(high))});
  Attributes attributes;
  attributes.set("to", onnx_type_code(type));
  context.finish("Cast", {clipped}, std::move(attributes));
}

/// Where OpenVINO's conversion of floats differs from ONNX' Cast: integers of less than a byte are
/// truncated as the wider ones are, and what a float of eight bits cannot hold does not saturate.
void finish_conversion(LayerContext& context, ElementType to) {
  Value* value = context.input(0);
  if (is_integer(to) && bit_width(to) < 8 && !is_integer(context.input_type(0))) {
    value = context.cast(value, ElementType::Int64);
  }
  Attributes attributes = with("to", onnx_type_code(to));
  if (to == ElementType::Float8E4M3FN || to == ElementType::Float8E5M2) {
    attributes.set("saturate", int64_t{0});
  }
  context.finish("Cast", {value}, std::move(attributes));
}

void convert(LayerContext& context) {
  finish_conversion(context, context.type("destination_type", "f32"));
}

void convert_like(LayerContext& context) {
  const ElementType like = context.input_type(1);
  if (like != ElementType::Undefined) return finish_conversion(context, like);
  context.finish("CastLike", {context.input(0), context.input(1)});
}

/// The type that holds the values of both inputs; Undefined where neither type does. A scalar of
/// PyTorch gives way to a tensor of its own kind.
ElementType promoted(LayerContext& context) {
  const ElementType a = context.input_type(0);
  const ElementType b = context.input_type(1);
  const bool a_is_scalar = context.input_rank(0) == 0;
  if (a == b) return a;
  if (context.flag("pytorch_scalar_promotion", false) &&
      a_is_scalar != (context.input_rank(1) == 0)) {
    const ElementType scalar = a_is_scalar ? a : b;
    const ElementType tensor = a_is_scalar ? b : a;
    if (is_float(tensor) || (is_integer(tensor) && is_integer(scalar))) return tensor;
  }
  if (a == ElementType::Bool || b == ElementType::Bool) return a == ElementType::Bool ? b : a;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  const bool same_width = bit_width(a) == bit_width(b);
  if (same_width && is_float(a)) return ElementType::Float32;  // float16 and bfloat16
  const ElementType wide = bit_width(a) >= bit_width(b) ? a : b;
  const bool same_sign = kSignedIntegers.contains(a) == kSignedIntegers.contains(b);
  if (is_float(a) || same_sign) return wide;
  return kSignedIntegers.contains(wide) && !same_width ? wide : ElementType::Undefined;
}

void convert_promote_types(LayerContext& context) {
  const ElementType type = promoted(context);
  if (type == ElementType::Undefined) {
    return context.refuse(fmt::format(
        "ConvertPromoteTypes of {} and {} is not supported: neither type holds the other's values",
        to_string(context.input_type(0)), to_string(context.input_type(1))));
  }
  for (const size_t i : {size_t{0}, size_t{1}}) {
    Attributes attributes;
    attributes.set("to", onnx_type_code(type));
    context.finish_output(i, "Cast", {context.input(i)}, std::move(attributes));
  }
}

/// (x * scale - shift) rounded to eight bits, by way of float16 as in OpenVINO, and back;
/// saturating.
void fake_convert(LayerContext& context) {
  const ElementType type = context.input_type(0);
  Value* value = context.add("Mul", {context.input(0), context.input(1)});
  if (context.has_input(2)) value = context.add("Sub", {value, context.input(2)});
  value = context.cast(value, ElementType::Float16);
  value = context.cast(context.cast(value, context.type("destination_type", "f8e4m3")), type);
  if (context.has_input(2)) value = context.add("Add", {value, context.input(2)});
  context.finish("Div", {value, context.input(1)});
}

void select(LayerContext& context) {
  if (context.text("auto_broadcast", "numpy") == "pdpd") {
    return context.refuse("Select with auto_broadcast pdpd is not supported");
  }
  context.finish("Where", {context.input(0), context.input(1), context.input(2)});
}

constexpr Translation kElementwiseTable[] = {
    {"Add", binary},
    {"Subtract", binary},
    {"Multiply", binary},
    {"Divide", divide},
    {"Power", power},
    {"Maximum", binary},
    {"Minimum", binary},
    {"Mod", mod},
    {"FloorMod", floor_mod},
    {"SquaredDifference", squared_difference},
    {"Equal", binary},
    {"NotEqual", not_equal},
    {"Less", ordering},
    {"LessEqual", ordering},
    {"Greater", ordering},
    {"GreaterEqual", ordering},
    {"LogicalAnd", binary},
    {"LogicalOr", binary},
    {"LogicalXor", binary},
    {"LogicalNot", unary},
    {"BitwiseAnd", binary},
    {"BitwiseOr", binary},
    {"BitwiseXor", binary},
    {"BitwiseNot", unary},
    {"BitwiseLeftShift", shift},
    {"BitwiseRightShift", shift},
    {"Abs", unary},
    {"Acos", unary},
    {"Acosh", unary},
    {"Asin", unary},
    {"Asinh", unary},
    {"Atan", unary},
    {"Atanh", unary},
    {"Ceiling", to_integer},
    {"Cos", unary},
    {"Cosh", unary},
    {"Erf", unary},
    {"Exp", unary},
    {"Floor", to_integer},
    {"Log", unary},
    {"Negative", unary},
    {"Sign", unary},
    {"Sin", unary},
    {"Sinh", unary},
    {"Sqrt", unary},
    {"Tan", unary},
    {"IsNaN", unary},
    {"IsInf", is_inf},
    {"IsFinite", is_finite},
    {"Identity", unary},
    {"Round", round},
    {"Clamp", clamp},
    {"Convert", convert},
    {"ConvertLike", convert_like},
    {"ConvertPromoteTypes", convert_promote_types},
    {"FakeConvert", fake_convert},
    {"Select", select},
};

}  // namespace

std::span<const Translation> elementwise_translations() {
  return kElementwiseTable;
}

}  // namespace het::ir
