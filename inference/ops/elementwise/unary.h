#pragma once

#include <cmath>
#include <optional>
#include <string_view>
#include <type_traits>

#include "inference/model/attributes.h"
#include "inference/ops/elementwise/as_read.h"

namespace het {

/// Operators of one float input that differ by one scalar expression.
enum class UnaryKind {
  Abs,
  Acos,
  Acosh,
  Asin,
  Asinh,
  Atan,
  Atanh,
  Ceil,
  Celu,
  Cos,
  Cosh,
  Elu,
  Erf,
  Exp,
  Floor,
  GeluErf,
  GeluTanh,
  HardSigmoid,
  HardSwish,
  LeakyRelu,
  Log,
  Mish,
  Neg,
  Reciprocal,
  Relu,
  Round,
  Selu,
  Shrink,
  Sigmoid,
  Sign,
  Sin,
  Sinh,
  Softplus,
  Softsign,
  Sqrt,
  Swish,
  Tan,
  Tanh,
  ThresholdedRelu,
};

/// A kind with the values of its attributes, defaults filled in:
/// Celu, Elu, LeakyRelu, ThresholdedRelu, Swish: alpha. HardSigmoid: alpha, beta.
/// Selu: alpha, beta = gamma. Shrink: alpha = lambd, beta = bias.
struct UnaryExpression {
  UnaryKind kind;
  float alpha = 0;
  float beta = 0;

  /// The value of the expression; kernels that loop use visit_unary().
  float operator()(float x) const;
};

/// The expression of an ONNX operator of domain "", or nothing when it is not such an operator.
std::optional<UnaryExpression> unary_expression(std::string_view op_type,
                                                const Attributes& attributes);

/// Calls `visitor(f)` with a function object `T f(T x)` for T = float or double that computes the
/// expression. The call is resolved once, so that loops inside the visitor have it inlined.
/// NaN inputs give NaN, except for Shrink and ThresholdedRelu (0). Formulas: ONNX' operator pages.
template <class T, class Visitor>
void visit_unary(const UnaryExpression& expression, Visitor&& visitor) {
  static_assert(std::is_floating_point_v<T>);
  const T a = static_cast<T>(expression.alpha);
  const T b = static_cast<T>(expression.beta);
  const auto sigmoid = [](T x) { return T(1) / (T(1) + std::exp(-x)); };
  const auto softplus = [](T x) {
    // log(1 + exp(x)) without overflow
    return (x > T(0) ? x : x < T(0) ? T(0) : x) + std::log1p(std::exp(-std::fabs(x)));
  };
  switch (expression.kind) {
    case UnaryKind::Abs:
      return visitor([](T x) { return std::fabs(x); });
    case UnaryKind::Acos:
      return visitor([](T x) { return std::acos(x); });
    case UnaryKind::Acosh:
      return visitor([](T x) { return std::acosh(x); });
    case UnaryKind::Asin:
      return visitor([](T x) { return std::asin(x); });
    case UnaryKind::Asinh:
      return visitor([](T x) { return std::asinh(x); });
    case UnaryKind::Atan:
      return visitor([](T x) { return std::atan(x); });
    case UnaryKind::Atanh:
      return visitor([](T x) { return std::atanh(x); });
    case UnaryKind::Ceil:
      return visitor([](T x) { return std::ceil(x); });
    case UnaryKind::Celu:
      return visitor([a](T x) {
        // max(0, x) + min(0, a (exp(x / a) - 1)); both terms count when a < 0
        const T bend = a * std::expm1(x / a);
        return (x < T(0) ? T(0) : x) + (bend > T(0) ? T(0) : bend);
      });
    case UnaryKind::Cos:
      return visitor([](T x) { return std::cos(x); });
    case UnaryKind::Cosh:
      return visitor([](T x) { return std::cosh(x); });
    case UnaryKind::Elu:
      return visitor([a](T x) { return x < T(0) ? a * std::expm1(x) : x; });
    case UnaryKind::Erf:
      return visitor([](T x) { return std::erf(x); });
    case UnaryKind::Exp:
      return visitor([](T x) { return std::exp(x); });
    case UnaryKind::Floor:
      return visitor([](T x) { return std::floor(x); });
    case UnaryKind::GeluErf:
      return visitor(
          [](T x) { return T(0.5) * x * (T(1) + std::erf(x * T(0.70710678118654752440))); });
    case UnaryKind::GeluTanh:
      return visitor([](T x) {
        const T inner = T(0.79788456080286535588) * (x + T(0.044715) * x * x * x);
        return T(0.5) * x * (T(1) + std::tanh(inner));
      });
    case UnaryKind::HardSigmoid:
      return visitor([a, b](T x) {
        const T y = a * x + b;
        return y < T(0) ? T(0) : y > T(1) ? T(1) : y;
      });
    case UnaryKind::HardSwish:
      return visitor([](T x) {
        const T y = x * (T(1) / T(6)) + T(0.5);
        return x * (y < T(0) ? T(0) : y > T(1) ? T(1) : y);
      });
    case UnaryKind::LeakyRelu:
      return visitor([a](T x) { return x < T(0) ? a * x : x; });
    case UnaryKind::Log:
      return visitor([](T x) { return std::log(as_read(x)); });
    case UnaryKind::Mish:
      return visitor([softplus](T x) { return x * std::tanh(softplus(x)); });
    case UnaryKind::Neg:
      return visitor([](T x) { return -x; });
    case UnaryKind::Reciprocal:
      return visitor([](T x) { return T(1) / x; });
    case UnaryKind::Relu:
      return visitor([](T x) { return x < T(0) ? T(0) : x; });
    case UnaryKind::Round:  // the default rounding mode: halves go to even
      return visitor([](T x) { return std::nearbyint(x); });
    case UnaryKind::Selu:
      return visitor([a, b](T x) { return b * (x <= T(0) ? a * std::expm1(x) : x); });
    case UnaryKind::Shrink:
      return visitor([a, b](T x) { return x < -a ? x + b : x > a ? x - b : T(0); });
    case UnaryKind::Sigmoid:
      return visitor(sigmoid);
    case UnaryKind::Sign:
      return visitor([](T x) { return x > T(0) ? T(1) : x < T(0) ? T(-1) : x != x ? x : T(0); });
    case UnaryKind::Sin:
      return visitor([](T x) { return std::sin(x); });
    case UnaryKind::Sinh:
      return visitor([](T x) { return std::sinh(x); });
    case UnaryKind::Softplus:
      return visitor(softplus);
    case UnaryKind::Softsign:
      return visitor([](T x) { return x / (T(1) + std::fabs(x)); });
    case UnaryKind::Sqrt:
      return visitor([](T x) { return std::sqrt(x); });
    case UnaryKind::Swish:
      return visitor([a, sigmoid](T x) { return x * sigmoid(a * x); });
    case UnaryKind::Tan:
      return visitor([](T x) { return std::tan(x); });
    case UnaryKind::Tanh:
      return visitor([](T x) { return std::tanh(x); });
    case UnaryKind::ThresholdedRelu:
      return visitor([a](T x) { return x > a ? x : T(0); });
  }
}

}  // namespace het
