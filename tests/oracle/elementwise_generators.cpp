#include "tests/oracle/generator.h"

namespace het::oracle {
namespace {

constexpr std::string_view kSigned = "f32 f16 f64 bf16 i8 i16 i32 i64";
constexpr std::string_view kNumbers = "f32 f16 f64 bf16 i8 i16 i32 i64 u8 u16 u32 u64";
constexpr std::string_view kNumbersAndBool = "f32 f16 f64 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool";
constexpr std::string_view kIntegers = "i32 u8 i8 i16 u16 u32 i64 u64";

void unary(Draw& d) {
  d.input(d.type(), d.shape(), d.generator().low, d.generator().high);
  d.attributes(d.generator().attributes);
}

/// The row's bounds hold for the second operand; the first has -4 to 4.
void binary(Draw& d) {
  const ElementType type = d.type();
  const Shape shape = d.shape();
  const bool swapped = d.flag();  // which operand is the larger one
  d.input(type, swapped ? d.broadcastable(shape) : shape, -4, 4);
  d.input(type, swapped ? shape : d.broadcastable(shape), d.generator().low, d.generator().high);
  d.attributes(d.generator().attributes);
}

void prelu(Draw& d) {
  const ElementType type = d.type();
  const Shape shape = d.shape();
  d.input(type, shape);
  d.weights(type, d.broadcastable(shape));
}

void pow(Draw& d) {
  const Shape shape = d.shape();
  const ElementType type = d.type();
  const bool is_whole = is_integer(type);
  d.input(type, shape, is_whole ? 1 : 0.5, is_whole ? 5 : 2);
  // An integer to a broken power would be cut off after rounding errors.
  const ElementType exponent = is_whole ? d.type("i64 i32 u8") : d.type("f32 f64 f16 i32 i64 u8");
  d.input(exponent, d.broadcastable(shape), is_whole ? 0 : -2, 3);
}

void variadic(Draw& d) {
  const ElementType type = d.type();
  const Shape shape = d.shape();
  d.input(type, shape);
  for (int64_t more = d.below(4); more > 0; --more) d.input(type, d.broadcastable(shape));
}

void where(Draw& d) {
  const ElementType type = d.type();
  const Shape shape = d.shape();
  d.input(ElementType::Bool, d.broadcastable(shape));
  d.input(type, shape);
  d.input(type, d.broadcastable(shape));
}

void clip(Draw& d) {
  const ElementType type = d.type();
  d.input(type, d.shape(), -4, 4);
  const int64_t bounds = d.below(4);  // bits: lower, upper
  if (bounds > 0) (bounds & 1) != 0 ? d.weights(type, {}, -2, 1) : d.omit();
  if ((bounds & 2) != 0) d.weights(type, {}, 0, 2);
}

constexpr Generator kElementwiseTable[] = {
    {"", "Abs", unary, kNumbers},
    {"", "Neg", unary, kSigned},
    {"", "Sign", unary, kNumbers},
    {"", "Relu", unary, kSigned},
    {"", "Ceil", unary, kFloats, -4, 4},
    {"", "Floor", unary, kFloats, -4, 4},
    {"", "Round", unary, kFloats, -4, 4},
    {"", "Exp", unary, kFloats, -4, 4},
    {"", "Log", unary, kFloats, 0.1, 4},
    {"", "Sqrt", unary, kFloats, 0, 4},
    {"", "Reciprocal", unary, kFloats, 0.25, 4},
    {"", "Sigmoid", unary, kFloats, -8, 8},
    {"", "Tanh", unary, kFloats, -8, 8},
    {"", "Erf", unary, kFloats, -4, 4},
    {"", "Sin", unary, kFloats, -8, 8},
    {"", "Cos", unary, kFloats, -8, 8},
    {"", "Tan", unary, kFloats, -1, 1},
    {"", "Asin", unary, kFloats, -0.9, 0.9},
    {"", "Acos", unary, kFloats, -0.9, 0.9},
    {"", "Atan", unary, kFloats},
    {"", "Sinh", unary, kFloats},
    {"", "Cosh", unary, kFloats},
    {"", "Asinh", unary, kFloats},
    {"", "Acosh", unary, kFloats, 1.1, 4},
    {"", "Atanh", unary, kFloats, -0.9, 0.9},
    {"", "Softplus", unary, kFloats, -20, 20},
    {"", "Softsign", unary, kFloats},
    {"", "HardSwish", unary, kFloats, -5, 5},
    {"", "Mish", unary, kFloats, -8, 8},
    {"", "Swish", unary, kFloats, -8, 8, "alpha:f=|0.5|2"},
    {"", "Gelu", unary, kFloats, -6, 6, "approximate:s=|tanh"},
    {"", "LeakyRelu", unary, kFloats, -2, 2, "alpha:f=|0.25|0|-0.5"},
    {"", "Elu", unary, kFloats, -4, 4, "alpha:f=|0.5"},
    {"", "Selu", unary, kFloats, -4, 4, "alpha:f=|1.5 gamma:f=|1.25"},
    {"", "Celu", unary, kFloats, -4, 4, "alpha:f=|2"},
    {"", "ThresholdedRelu", unary, kFloats, -2, 2, "alpha:f=|0.5"},
    {"", "HardSigmoid", unary, kFloats, -5, 5, "alpha:f=|0.25 beta:f=|0.375"},
    {"", "Shrink", unary, kNumbers, -4, 4, "lambd:f=|1.5 bias:f=|1"},
    {"", "Not", unary, "bool"},
    {"", "BitwiseNot", unary, kIntegers, -100, 100},
    {"", "IsNaN", unary, kFloats},
    {"", "IsInf", unary, kFloats, -2, 2, "detect_negative:i=|0 detect_positive:i=|0"},
    {"", "Identity", unary, kNumbersAndBool},
    {"", "Add", binary, kNumbers},
    {"", "Sub", binary, kNumbers},
    {"", "Mul", binary, kNumbers},
    {"", "Div", binary, kNumbers, 0.5, 4},
    {"", "Mod", binary, kNumbers, 1, 4, "fmod:i=|1"},
    {"", "And", binary, "bool"},
    {"", "Or", binary, "bool"},
    {"", "Xor", binary, "bool"},
    {"", "BitwiseAnd", binary, kIntegers, -100, 100},
    {"", "BitwiseOr", binary, kIntegers, -100, 100},
    {"", "BitwiseXor", binary, kIntegers, -100, 100},
    {"", "BitShift", binary, "u8 u16 u32 u64", 0, 9, "direction:s=LEFT|RIGHT"},
    {"", "Equal", binary, kNumbersAndBool, -4, 4},
    {"", "Greater", binary, kNumbers, -4, 4},
    {"", "GreaterOrEqual", binary, kNumbers, -4, 4},
    {"", "Less", binary, kNumbers, -4, 4},
    {"", "LessOrEqual", binary, kNumbers, -4, 4},
    {"", "PRelu", prelu, "f32 f16 f64 bf16 i32 i64 u32 u64"},
    {"", "Pow", pow, "f32 f16 f64 bf16 i32 i64"},
    {"", "Max", variadic, kNumbers},
    {"", "Min", variadic, kNumbers},
    {"", "Sum", variadic, kFloats},
    {"", "Mean", variadic, kFloats},
    {"", "Where", where, kNumbersAndBool},
    {"", "Clip", clip, kNumbers},
};

}  // namespace

std::span<const Generator> elementwise_generators() {
  return kElementwiseTable;
}

}  // namespace het::oracle
