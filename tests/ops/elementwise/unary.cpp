#include "inference/ops/elementwise/unary.h"

#include <limits>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

struct FloatCase {
  std::string type;
  double x;
  double y;
  Attributes attributes = {};
};

/// Expected values computed with Python's math module to 9 digits.
std::vector<FloatCase> float_cases() {
  return {
      {"Abs", -1.5, 1.5},
      {"Acos", 0.5, 1.04719755},
      {"Acosh", 2, 1.31695790},
      {"Asin", 0.5, 0.523598776},
      {"Asinh", 1, 0.881373587},
      {"Atan", 1, 0.785398163},
      {"Atanh", 0.5, 0.549306144},
      {"Ceil", 1.25, 2},
      {"Ceil", -1.25, -1},
      {"Celu", -1, -0.632120559},
      {"Celu", -1, -0.786938681, make_attributes({{"alpha", 2.0f}})},
      {"Celu", 3, 3},
      {"Cos", 1, 0.540302306},
      {"Cosh", 1, 1.54308063},
      {"Elu", -1, -0.632120559},
      {"Elu", -1, -1.26424112, make_attributes({{"alpha", 2.0f}})},
      {"Elu", 2, 2},
      {"Erf", 0.5, 0.520499878},
      {"Exp", 1, 2.71828183},
      {"Floor", -1.25, -2},
      {"Gelu", 1, 0.841344746},
      {"Gelu", 1, 0.841191991, make_attributes({{"approximate", "tanh"}})},
      {"HardSigmoid", 1, 0.7},
      {"HardSigmoid", 10, 1},
      {"HardSigmoid", 1, 0.75, make_attributes({{"alpha", 0.5f}, {"beta", 0.25f}})},
      {"HardSwish", 1, 0.666666667},
      {"HardSwish", -4, 0},
      {"HardSwish", 4, 4},
      {"LeakyRelu", -2, -0.02},
      {"LeakyRelu", -2, -0.5, make_attributes({{"alpha", 0.25f}})},
      {"LeakyRelu", 2, 2},
      {"Log", 2, 0.693147181},
      {"Mish", 1, 0.865098388},
      {"Neg", 1.5, -1.5},
      {"Reciprocal", 4, 0.25},
      {"Relu", -3, 0},
      {"Relu", 3, 3},
      {"Round", 0.5, 0},
      {"Round", 1.5, 2},
      {"Round", -2.5, -2},
      {"Selu", 1, 1.05070102},
      {"Selu", -1, -1.11133072},
      {"Selu", -1, -3.79272336, make_attributes({{"alpha", 2.0f}, {"gamma", 3.0f}})},
      {"Shrink", 0.25, 0},
      {"Shrink", -2, -2},
      {"Shrink", -2, -0.5, make_attributes({{"lambd", 1.5f}, {"bias", 1.5f}})},
      {"Shrink", 2, 0.5, make_attributes({{"lambd", 1.5f}, {"bias", 1.5f}})},
      {"Sigmoid", 1, 0.731058579},
      {"Sign", -7, -1},
      {"Sign", 0, 0},
      {"Sin", 1, 0.841470985},
      {"Sinh", 1, 1.17520119},
      {"Softplus", 1, 1.31326169},
      {"Softsign", -3, -0.75},
      {"Sqrt", 2, 1.41421356},
      {"Swish", 1, 0.731058579},
      {"Swish", 2, 1.46211716, make_attributes({{"alpha", 0.5f}})},
      {"Tan", 1, 1.55740772},
      {"Tanh", 1, 0.761594156},
      {"ThresholdedRelu", 1, 0},
      {"ThresholdedRelu", 1.5, 1.5},
      {"ThresholdedRelu", 1.5, 0, make_attributes({{"alpha", 2.0f}})},
  };
}

TEST(Unary, FloatValuesInAllFloatTypes) {
  for (const FloatCase& c : float_cases()) {
    SCOPED_TRACE(c.type + " of " + std::to_string(c.x));
    const auto call = [&](const Tensor& x) { return OpCall{c.type, {x}, c.attributes}; };
    expect_values<float>(run_op_single(call(make_tensor<float>({}, {c.x}))), {}, {c.y}, 2e-6);
    expect_values<double>(run_op_single(call(make_tensor<double>({1}, {c.x}))), {1}, {c.y}, 1e-7);
    expect_values<Float16>(run_op_single(call(make_tensor<Float16>({1}, {c.x}))), {1}, {c.y}, 2e-3);
    expect_values<BFloat16>(run_op_single(call(make_tensor<BFloat16>({1}, {c.x}))), {1}, {c.y},
                            2e-2);
  }
}

TEST(Unary, EveryOperatorTakesEmptyTensors) {
  for (const FloatCase& c : float_cases()) {
    SCOPED_TRACE(c.type);
    expect_values<float>(run_op_single({c.type, {make_tensor<float>({2, 0, 3}, {})}, c.attributes}),
                         {2, 0, 3}, {});
  }
}

TEST(Unary, ExpressionOfAnOperatorIsItsScalarFunction) {
  for (const FloatCase& c : float_cases()) {
    SCOPED_TRACE(c.type);
    const auto expression = unary_expression(c.type, c.attributes);
    ASSERT_TRUE(expression.has_value());
    EXPECT_NEAR((*expression)(static_cast<float>(c.x)), c.y, 4e-6);
  }
  EXPECT_FALSE(unary_expression("Conv", {}).has_value());
}

TEST(Unary, ExtremesStayFinite) {
  expect_values<float>(run_op_single({"Softplus", {make_tensor<float>({3}, {-200, 200, kInf})}}),
                       {3}, {0, 200, kInf});
  expect_values<float>(run_op_single({"Sigmoid", {make_tensor<float>({2}, {-200, 200})}}), {2},
                       {0, 1});
  expect_values<float>(run_op_single({"Mish", {make_tensor<float>({2}, {-100, 100})}}), {2},
                       {0, 100});
}

TEST(Unary, NaNPasses) {
  for (const char* type : {"Relu", "LeakyRelu", "Sign", "HardSigmoid", "Elu", "Celu", "Softplus"}) {
    SCOPED_TRACE(type);
    expect_values<float>(run_op_single({type, {make_tensor<float>({1}, {kNaN})}}), {1}, {kNaN});
  }
}

TEST(Unary, IntegersWhereOnnxHasThem) {
  expect_values<int8_t>(run_op_single({"Abs", {make_tensor<int8_t>({3}, {-128, -5, 7})}}), {3},
                        {-128, 5, 7});
  expect_values<uint32_t>(run_op_single({"Abs", {make_tensor<uint32_t>({1}, {4e9})}}), {1}, {4e9});
  expect_values<int32_t>(run_op_single({"Neg", {make_tensor<int32_t>({2}, {-5, 7})}}), {2},
                         {5, -7});
  expect_values<int64_t>(run_op_single({"Sign", {make_tensor<int64_t>({3}, {-5, 0, 7})}}), {3},
                         {-1, 0, 1});
  expect_values<int16_t>(run_op_single({"Relu", {make_tensor<int16_t>({2}, {-5, 7})}}), {2},
                         {0, 7});
  expect_values<int32_t>(run_op_single({"Shrink",
                                        {make_tensor<int32_t>({5}, {-3, -1, 0, 1, 3})},
                                        make_attributes({{"lambd", 1.5f}, {"bias", 1.0f}})}),
                         {5}, {-2, 0, 0, 0, 2});
  expect_values<uint8_t>(run_op_single({"BitwiseNot", {make_tensor<uint8_t>({2}, {0, 0x5a})}}), {2},
                         {255, 0xa5});
  expect_values<int64_t>(run_op_single({"BitwiseNot", {make_tensor<int64_t>({1}, {4})}}), {1},
                         {-5});
}

TEST(Unary, BoolResults) {
  expect_values<bool>(run_op_single({"Not", {make_tensor<bool>({2}, {1, 0})}}), {2}, {0, 1});
  const Tensor x = make_tensor<Float16>({4}, {1, kNaN, kInf, -kInf});
  expect_values<bool>(run_op_single({"IsNaN", {x}}), {4}, {0, 1, 0, 0});
  expect_values<bool>(run_op_single({"IsInf", {x}}), {4}, {0, 0, 1, 1});
  expect_values<bool>(
      run_op_single({"IsInf", {x}, make_attributes({{"detect_negative", int64_t{0}}})}), {4},
      {0, 0, 1, 0});
  expect_values<bool>(
      run_op_single({"IsInf", {x}, make_attributes({{"detect_positive", int64_t{0}}})}), {4},
      {0, 0, 0, 1});
}

TEST(Unary, RefusesWrongTypesAndAttributes) {
  expect_op_error({"Exp", {make_tensor<int32_t>({1}, {1})}}, "int32");
  expect_op_error({"Neg", {make_tensor<uint8_t>({1}, {1})}}, "uint8");
  expect_op_error({"Not", {make_tensor<float>({1}, {1})}}, "float32");
  expect_op_error({"Elu", {make_tensor<float>({1}, {1})}, make_attributes({{"alpha", int64_t{1}}})},
                  "'alpha' is an int");
  expect_op_error({"Celu", {make_tensor<float>({1}, {1})}, make_attributes({{"alpha", 0.0f}})},
                  "alpha is 0");
  expect_op_error(
      {"Gelu", {make_tensor<float>({1}, {1})}, make_attributes({{"approximate", "fast"}})},
      "'fast'");
  expect_op_error({"Relu", {}}, "has 0 inputs");
  expect_op_error({"Relu", {make_tensor<float>({1}, {1}), make_tensor<float>({1}, {1})}},
                  "has 2 inputs");
}

}  // namespace
}  // namespace het::op_testing
