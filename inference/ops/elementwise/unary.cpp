#include "inference/ops/elementwise/unary.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

/// One float operator: its expression and where the two parameters come from.
struct FloatRow {
  std::string_view type;
  int since_version;
  UnaryKind kind;
  std::string_view alpha_name = {};
  float alpha_default = 0;
  std::string_view beta_name = {};
  float beta_default = 0;
};

constexpr std::array kFloatRows{
    FloatRow{"Abs", 13, UnaryKind::Abs},
    FloatRow{"Acos", 22, UnaryKind::Acos},
    FloatRow{"Acosh", 22, UnaryKind::Acosh},
    FloatRow{"Asin", 22, UnaryKind::Asin},
    FloatRow{"Asinh", 22, UnaryKind::Asinh},
    FloatRow{"Atan", 22, UnaryKind::Atan},
    FloatRow{"Atanh", 22, UnaryKind::Atanh},
    FloatRow{"Ceil", 13, UnaryKind::Ceil},
    FloatRow{"Celu", 28, UnaryKind::Celu, "alpha", 1.0f},
    FloatRow{"Cos", 22, UnaryKind::Cos},
    FloatRow{"Cosh", 22, UnaryKind::Cosh},
    FloatRow{"Elu", 22, UnaryKind::Elu, "alpha", 1.0f},
    FloatRow{"Erf", 13, UnaryKind::Erf},
    FloatRow{"Exp", 13, UnaryKind::Exp},
    FloatRow{"Floor", 13, UnaryKind::Floor},
    FloatRow{"Gelu", 20, UnaryKind::GeluErf},
    FloatRow{"HardSigmoid", 22, UnaryKind::HardSigmoid, "alpha", 0.2f, "beta", 0.5f},
    FloatRow{"HardSwish", 22, UnaryKind::HardSwish},
    FloatRow{"LeakyRelu", 16, UnaryKind::LeakyRelu, "alpha", 0.01f},
    FloatRow{"Log", 13, UnaryKind::Log},
    FloatRow{"Mish", 22, UnaryKind::Mish},
    FloatRow{"Neg", 13, UnaryKind::Neg},
    FloatRow{"Reciprocal", 13, UnaryKind::Reciprocal},
    FloatRow{"Relu", 14, UnaryKind::Relu},
    FloatRow{"Round", 22, UnaryKind::Round},
    FloatRow{"Selu", 22, UnaryKind::Selu, "alpha", 1.67326319217681884765625f, "gamma",
             1.05070102214813232421875f},
    FloatRow{"Shrink", 9, UnaryKind::Shrink, "lambd", 0.5f, "bias", 0.0f},
    FloatRow{"Sigmoid", 13, UnaryKind::Sigmoid},
    FloatRow{"Sign", 13, UnaryKind::Sign},
    FloatRow{"Sin", 22, UnaryKind::Sin},
    FloatRow{"Sinh", 22, UnaryKind::Sinh},
    FloatRow{"Softplus", 22, UnaryKind::Softplus},
    FloatRow{"Softsign", 22, UnaryKind::Softsign},
    FloatRow{"Sqrt", 13, UnaryKind::Sqrt},
    FloatRow{"Swish", 24, UnaryKind::Swish, "alpha", 1.0f},
    FloatRow{"Tan", 22, UnaryKind::Tan},
    FloatRow{"Tanh", 13, UnaryKind::Tanh},
    FloatRow{"ThresholdedRelu", 22, UnaryKind::ThresholdedRelu, "alpha", 1.0f},
};

const FloatRow* find_float_row(std::string_view op_type) {
  const auto* row = std::find_if(kFloatRows.begin(), kFloatRows.end(),
                                 [&](const FloatRow& r) { return r.type == op_type; });
  return row == kFloatRows.end() ? nullptr : row;
}

/// Integer types that an operator of the table accepts beside the floats.
TypeSet integer_types(UnaryKind kind) {
  switch (kind) {
    case UnaryKind::Abs:
    case UnaryKind::Sign:
    case UnaryKind::Shrink:
      return kIntegers;
    case UnaryKind::Neg:
    case UnaryKind::Relu:
      return kSignedIntegers;
    default:
      return {};
  }
}

Status infer_float(InferContext& context) {
  const FloatRow& row = *find_float_row(context.node().op_type());
  HET_TRY(check_input(context, 0, "X", kFloatTypes | integer_types(row.kind)));
  const Attributes& attributes = context.attributes();
  if (!row.alpha_name.empty()) {
    HET_TRY(check_attributes(attributes, {{row.alpha_name, AttributeType::Float}}));
  }
  if (!row.beta_name.empty()) {
    HET_TRY(check_attributes(attributes, {{row.beta_name, AttributeType::Float}}));
  }
  if (row.kind == UnaryKind::Celu && attributes.get_float("alpha", 1.0f) == 0.0f) {
    return error(StatusCode::InvalidArgument, "alpha is 0, but the input is divided by it");
  }
  if (row.kind == UnaryKind::GeluErf) {
    HET_TRY(check_attributes(attributes, {{"approximate", AttributeType::String}}));
    const std::string mode = attributes.get_string("approximate", "none");
    if (mode != "none" && mode != "tanh") {
      return error(StatusCode::InvalidArgument, "approximate is '{}', but must be none or tanh",
                   mode);
    }
  }
  context.set_output(0, context.type(0), context.shape(0));
  return {};
}

template <class T>
T integer_expression(const UnaryExpression& expression, T x) {
  using Unsigned = std::make_unsigned_t<T>;
  switch (expression.kind) {
    case UnaryKind::Abs:  // the smallest value has no positive counterpart and stays itself
      return x < 0 ? static_cast<T>(Unsigned{0} - static_cast<Unsigned>(x)) : x;
    case UnaryKind::Neg:
      return static_cast<T>(Unsigned{0} - static_cast<Unsigned>(x));
    case UnaryKind::Relu:
      return x < 0 ? T(0) : x;
    case UnaryKind::Sign:
      return static_cast<T>((x > 0) - (x < 0));
    default: {
      const auto value = static_cast<double>(x);
      if (value < -expression.alpha) return numeric_cast<T>(value + expression.beta);
      if (value > expression.alpha) return numeric_cast<T>(value - expression.beta);
      return T(0);
    }
  }
}

template <class T>
void apply_floats(const UnaryExpression& expression, std::span<const T> x, std::span<T> y) {
  using Arithmetic = ArithmeticType<T>;
  visit_unary<Arithmetic>(expression, [&](auto f) {
    for (size_t i = 0; i < x.size(); ++i) {
      y[i] = static_cast<T>(f(static_cast<Arithmetic>(x[i])));
    }
  });
}

Status evaluate_float(EvaluateContext& context) {
  const auto expression = unary_expression(context.node().op_type(), context.attributes());
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  return dispatch_numeric(x.type(), [&]<class T>() -> Status {
    const std::span<const T> src = x.values<T>();
    const std::span<T> dst = y.values<T>();
    if constexpr (std::is_integral_v<T>) {
      for (size_t i = 0; i < src.size(); ++i) dst[i] = integer_expression<T>(*expression, src[i]);
    } else {
      apply_floats<T>(*expression, src, dst);
    }
    return {};
  });
}

Status infer_not(InferContext& context) {
  HET_TRY(check_input(context, 0, "X", kBoolOnly));
  context.set_output(0, ElementType::Bool, context.shape(0));
  return {};
}

Status evaluate_not(EvaluateContext& context) {
  const auto x = context.input(0).values<bool>();
  std::transform(x.begin(), x.end(), context.output(0).data<bool>(), [](bool v) { return !v; });
  return {};
}

Status infer_bitwise_not(InferContext& context) {
  HET_TRY(check_input(context, 0, "X", kIntegers));
  context.set_output(0, context.type(0), context.shape(0));
  return {};
}

Status evaluate_bitwise_not(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  const std::byte* src = x.bytes();
  std::transform(src, src + x.size_bytes(), context.output(0).bytes(),
                 [](std::byte v) { return ~v; });
  return {};
}

Status infer_float_test(InferContext& context) {
  HET_TRY(check_input(context, 0, "X", kFloatTypes));
  HET_TRY(check_attributes(context.attributes(), {{"detect_negative", AttributeType::Int},
                                                  {"detect_positive", AttributeType::Int}}));
  context.set_output(0, ElementType::Bool, context.shape(0));
  return {};
}

/// Fills a bool output with `test` of every float input element, as double.
template <class Test>
Status evaluate_float_test(EvaluateContext& context, Test test) {
  const Tensor& x = context.input(0);
  bool* y = context.output(0).data<bool>();
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    const std::span<T> src = x.values<T>();
    std::transform(src.begin(), src.end(), y, [&](T v) { return test(static_cast<double>(v)); });
    return {};
  });
}

Status evaluate_is_nan(EvaluateContext& context) {
  return evaluate_float_test(context, [](double v) { return std::isnan(v); });
}

Status evaluate_is_inf(EvaluateContext& context) {
  const bool negative = context.attributes().get_int("detect_negative", 1) != 0;
  const bool positive = context.attributes().get_int("detect_positive", 1) != 0;
  return evaluate_float_test(
      context, [=](double v) { return std::isinf(v) && (std::signbit(v) ? negative : positive); });
}

}  // namespace

float UnaryExpression::operator()(float x) const {
  float y = 0;
  visit_unary<float>(*this, [&](auto f) { y = f(x); });
  return y;
}

std::optional<UnaryExpression> unary_expression(std::string_view op_type,
                                                const Attributes& attributes) {
  const FloatRow* row = find_float_row(op_type);
  if (row == nullptr) return std::nullopt;
  UnaryExpression expression{row->kind};
  if (!row->alpha_name.empty()) {
    expression.alpha = attributes.get_float(row->alpha_name, row->alpha_default);
  }
  if (!row->beta_name.empty()) {
    expression.beta = attributes.get_float(row->beta_name, row->beta_default);
  }
  if (row->kind == UnaryKind::GeluErf && attributes.get_string("approximate", "none") == "tanh") {
    expression.kind = UnaryKind::GeluTanh;
  }
  return expression;
}

HET_REGISTRATION void register_unary(OpRegistry& registry) {
  for (const FloatRow& row : kFloatRows) {
    registry.add({row.type, "", row.since_version, 1, 1, infer_float, evaluate_float});
  }
  registry.add({"Not", "", 1, 1, 1, infer_not, evaluate_not});
  registry.add({"BitwiseNot", "", 18, 1, 1, infer_bitwise_not, evaluate_bitwise_not});
  registry.add({"IsNaN", "", 20, 1, 1, infer_float_test, evaluate_is_nan});
  registry.add({"IsInf", "", 20, 1, 1, infer_float_test, evaluate_is_inf});
}

}  // namespace het
