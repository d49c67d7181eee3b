#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <limits>

#include "tests/readers/openvino_ir/ir_file.h"

/// Arithmetic, activations, reductions and products of IR, with values worked out by hand.
namespace het {
namespace {

using test::evaluate_layer;
using test::IrFile;
using test::IrPort;
using test::OneLayer;
using ::testing::ElementsAre;
using ::testing::FloatNear;

Tensor row(const std::vector<float>& values) {
  return Tensor::from<float>({static_cast<int64_t>(values.size())}, values);
}

/// A layer of one float vector.
std::vector<float> unary(const OneLayer& layer, const std::vector<float>& x) {
  return evaluate_layer(layer, row(x), {}, {static_cast<int64_t>(x.size())});
}

/// A layer of one float vector and a constant one of the same length.
std::vector<float> binary(const std::string& type, const std::vector<float>& x,
                          const std::vector<float>& y) {
  const auto count = static_cast<int64_t>(x.size());
  return evaluate_layer({type}, row(x),
                        [&](IrFile& f) { return std::vector{f.floats({count}, y)}; }, {count});
}

std::vector<float> integer_binary(const std::string& type, const std::string& data,
                                  const std::vector<int64_t>& x, const std::vector<int64_t>& y) {
  const auto count = static_cast<int64_t>(x.size());
  return evaluate_layer(
      {type, "opset1", data}, Tensor::from<int64_t>({count}, x),
      [&](IrFile& f) { return std::vector{f.integers(y)}; }, {count}, nullptr, "I64");
}

TEST(IrElementwise, Arithmetic) {
  EXPECT_THAT(binary("Add", {1, -2}, {3, 4}), ElementsAre(4, 2));
  EXPECT_THAT(binary("Subtract", {1, -2}, {3, 4}), ElementsAre(-2, -6));
  EXPECT_THAT(binary("Multiply", {1, -2}, {3, 4}), ElementsAre(3, -8));
  EXPECT_THAT(binary("Divide", {1, -2}, {4, 4}), ElementsAre(0.25f, -0.5f));
  EXPECT_THAT(binary("Power", {2, 3}, {3, 2}), ElementsAre(8, 9));
  EXPECT_THAT(binary("Maximum", {2, 3}, {3, 2}), ElementsAre(3, 3));
  EXPECT_THAT(binary("Minimum", {2, 3}, {3, 2}), ElementsAre(2, 2));
  EXPECT_THAT(binary("SquaredDifference", {2, 5}, {3, 2}), ElementsAre(1, 9));
}

TEST(IrElementwise, RemaindersAndIntegerDivision) {
  // C's fmod has the sign of the dividend, Python's % that of the divisor.
  EXPECT_THAT(binary("Mod", {-7, 7}, {3, -3}), ElementsAre(-1, 1));
  EXPECT_THAT(binary("FloorMod", {-7, 7}, {3, -3}), ElementsAre(2, -2));
  EXPECT_THAT(integer_binary("Mod", "", {-7, 7}, {3, -3}), ElementsAre(-1, 1));
  EXPECT_THAT(integer_binary("FloorMod", "", {-7, 7}, {3, -3}), ElementsAre(2, -2));
  EXPECT_THAT(integer_binary("Divide", "", {-7, 7, 6}, {2, 2, -3}), ElementsAre(-4, 3, -2));
  EXPECT_THAT(integer_binary("Divide", "m_pythondiv=\"false\"", {-7, 7, 6}, {2, 2, -3}),
              ElementsAre(-3, 3, -2));
}

TEST(IrElementwise, PaddleAlignsTheFirstDimensions) {
  // b[2] belongs to dimension 1 of a[1,2,2].
  const auto out = evaluate_layer({"Add", "opset1", "auto_broadcast=\"pdpd\" axis=\"1\""},
                                  Tensor::from<float>({1, 2, 2}, {1, 2, 3, 4}),
                                  [](IrFile& f) {
                                    return std::vector{f.floats({2}, {10, 20})};
                                  },
                                  {1, 2, 2});
  EXPECT_THAT(out, ElementsAre(11, 12, 23, 24));
}

/// A layer of one vector of integers of type T.
template <class T>
std::vector<float> of_integers(const std::string& type, const std::string& opset,
                               const std::string& element_type, const std::vector<T>& x,
                               const std::vector<T>& y = {}) {
  const auto count = static_cast<int64_t>(x.size());
  IrFile file;
  std::vector<IrPort> inputs{file.parameter("x", element_type, {count})};
  if (!y.empty()) inputs.push_back(file.constant<T>(element_type, {count}, y));
  std::string precision = element_type;
  for (char& c : precision) c = static_cast<char>(std::toupper(c));
  file.result(file.layer(type, opset, "", inputs, {{precision, {count}}}));
  const auto results = test::evaluate_file(file, {Tensor::from<T>({count}, x)});
  if (results.empty()) return {};
  EXPECT_EQ(results[0].type(), element_type_of<T>()) << type;
  return *to_float_vector(results[0]);
}

// OpenVINO computes these as floats and rounds; values by its CPU plugin.
TEST(IrElementwise, FunctionsOfIntegers) {
  for (const char* type : {"Floor", "Ceiling", "Abs"}) {
    EXPECT_THAT(of_integers<int64_t>(type, "opset1", "i64", {0, 7, 1 << 30}),
                ElementsAre(0, 7, 1 << 30))
        << type;
    EXPECT_THAT(of_integers<uint8_t>(type, "opset1", "u8", {0, 7, 255}), ElementsAre(0, 7, 255));
  }
  EXPECT_THAT(of_integers<int32_t>("Round", "opset5", "i32", {-3, 8}), ElementsAre(-3, 8));
  EXPECT_THAT(of_integers<int32_t>("Sign", "opset1", "i32", {-3, 8, 0}), ElementsAre(-1, 1, 0));
  EXPECT_THAT(of_integers<int32_t>("Exp", "opset1", "i32", {0, 1, 2, 3, -3}),
              ElementsAre(1, 3, 7, 20, 0));
  EXPECT_THAT(of_integers<int64_t>("Sqrt", "opset1", "i64", {0, 2, 7, 100}),
              ElementsAre(0, 1, 3, 10));
  EXPECT_THAT(of_integers<uint8_t>("Log", "opset1", "u8", {1, 2, 3, 5}), ElementsAre(0, 1, 1, 2));
  EXPECT_THAT(of_integers<int32_t>("Sigmoid", "opset1", "i32", {0, 2, -3}), ElementsAre(0, 1, 0));
  EXPECT_THAT(of_integers<int32_t>("Elu", "opset1", "i32", {2, -3}), ElementsAre(2, -1));
  EXPECT_THAT(of_integers<uint8_t>("Power", "opset1", "u8", {2, 3}, {7, 2}), ElementsAre(128, 9));
  EXPECT_THAT(of_integers<int16_t>("Power", "opset1", "i16", {-2, 3}, {3, 2}), ElementsAre(-8, 9));
}

TEST(IrElementwise, ReductionsOfSmallIntegers) {
  const auto reduced = [](const std::string& type, const std::string& opset) {
    IrFile file;
    const IrPort x = file.constant<uint8_t>("u8", {3}, {1, 2, 3});
    file.result(
        file.layer(type, opset, "keep_dims=\"false\"", {x, file.integers({0})}, {{"U8", {}}}));
    return *to_float_vector(test::evaluate_file(file, {}).at(0));
  };
  EXPECT_THAT(reduced("ReduceSum", "opset1"), ElementsAre(6));
  EXPECT_THAT(reduced("ReduceProd", "opset1"), ElementsAre(6));
  EXPECT_THAT(reduced("ReduceMean", "opset1"), ElementsAre(2));
  EXPECT_THAT(reduced("ReduceL1", "opset4"), ElementsAre(6));
  EXPECT_THAT(reduced("ReduceL2", "opset4"), ElementsAre(3)) << "of the root of 14, truncated";
}

TEST(IrElementwise, ConversionsToNarrowTypes) {
  const auto converted = [](const std::string& to, const std::vector<float>& x) {
    IrFile file;
    const auto count = static_cast<int64_t>(x.size());
    const IrPort in = file.parameter("x", "f32", {count});
    const IrPort narrow =
        file.layer("Convert", "opset1", "destination_type=\"" + to + "\"", {in}, {{"U8", {count}}});
    file.result(
        file.layer("Convert", "opset1", "destination_type=\"f32\"", {narrow}, {{"FP32", {count}}}));
    return *to_float_vector(test::evaluate_file(file, {row(x)}).at(0));
  };
  // Unlike ONNX, which rounds to types of less than a byte.
  EXPECT_THAT(converted("i4", {-1.5f, 0.6f, 1.5f, 9}), ElementsAre(-1, 0, 1, -7));
  EXPECT_THAT(converted("u4", {-1.5f, 0.6f, 1.5f, 15.5f}), ElementsAre(15, 0, 1, 15));
  // Nothing saturates.
  EXPECT_THAT(converted("f8e4m3", {464, 465, -1e6f, 1}),
              ElementsAre(448, ::testing::IsNan(), ::testing::IsNan(), 1));
  EXPECT_THAT(converted("f8e5m2", {60000, 61440, 1}),
              ElementsAre(57344, std::numeric_limits<float>::infinity(), 1));
}

TEST(IrElementwise, ComparisonsAndLogic) {
  const auto compared = [](const std::string& type) {
    return evaluate_layer(
        {type}, row({1, 2, 3}),
        [](IrFile& f) {
          return std::vector{f.floats({3}, {2, 2, 2})};
        },
        {3}, nullptr, "BOOL");
  };
  EXPECT_THAT(compared("Less"), ElementsAre(1, 0, 0));
  EXPECT_THAT(compared("LessEqual"), ElementsAre(1, 1, 0));
  EXPECT_THAT(compared("Greater"), ElementsAre(0, 0, 1));
  EXPECT_THAT(compared("GreaterEqual"), ElementsAre(0, 1, 1));
  EXPECT_THAT(compared("Equal"), ElementsAre(0, 1, 0));
  EXPECT_THAT(compared("NotEqual"), ElementsAre(1, 0, 1));
  const auto logical = [](const std::string& type) {
    return evaluate_layer(
        {type}, Tensor::from<bool>({4}, {false, false, true, true}),
        [](IrFile& f) {
          return std::vector{f.constant<uint8_t>("boolean", {4}, {0, 1, 0, 1})};
        },
        {4}, nullptr, "BOOL");
  };
  EXPECT_THAT(logical("LogicalAnd"), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(logical("LogicalOr"), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(logical("LogicalXor"), ElementsAre(0, 1, 1, 0));
}

TEST(IrElementwise, IsFiniteAndSelect) {
  const float inf = std::numeric_limits<float>::infinity();
  const auto finite =
      evaluate_layer({"IsFinite", "opset10"}, row({1, inf, -inf, NAN}), {}, {4}, nullptr, "BOOL");
  EXPECT_THAT(finite, ElementsAre(1, 0, 0, 0));
  const auto chosen =
      evaluate_layer({"Select"}, Tensor::from<bool>({2}, {true, false}),
                     [](IrFile& f) {
                       return std::vector{f.floats({2}, {1, 2}), f.floats({2}, {3, 4})};
                     },
                     {2});
  EXPECT_THAT(chosen, ElementsAre(1, 4));
}

TEST(IrElementwise, Unary) {
  EXPECT_THAT(unary({"Negative"}, {1, -2}), ElementsAre(-1, 2));
  EXPECT_THAT(unary({"Abs"}, {1, -2}), ElementsAre(1, 2));
  EXPECT_THAT(unary({"Ceiling"}, {1.2f, -1.2f}), ElementsAre(2, -1));
  EXPECT_THAT(unary({"Floor"}, {1.2f, -1.2f}), ElementsAre(1, -2));
  EXPECT_THAT(unary({"Round", "opset5", "mode=\"half_to_even\""}, {0.5f, 1.5f, -2.5f}),
              ElementsAre(0, 2, -2));
  EXPECT_THAT(unary({"Round", "opset5", "mode=\"half_away_from_zero\""}, {0.5f, 1.5f, -2.5f}),
              ElementsAre(1, 2, -3));
  EXPECT_THAT(unary({"Clamp", "opset1", "min=\"0\" max=\"6\""}, {-1, 3, 7}), ElementsAre(0, 3, 6));
  EXPECT_THAT(evaluate_layer({"Clamp", "opset1", "min=\"-1.5\" max=\"2.5\""},
                             Tensor::from<int64_t>({3}, {-5, 0, 5}), {}, {3}, nullptr, "I64"),
              ElementsAre(-1, 0, 2));
}

TEST(IrElementwise, Activations) {
  EXPECT_THAT(unary({"ReLU"}, {-1, 2}), ElementsAre(0, 2));
  EXPECT_THAT(unary({"Elu", "opset1", "alpha=\"2\""}, {0, std::log(0.5f)}), ElementsAre(0, -1));
  // HSigmoid is min(max(x + 3, 0), 6) / 6; HSwish is x times that.
  EXPECT_THAT(unary({"HSigmoid", "opset5"}, {-4, 0, 4}), ElementsAre(0, 0.5f, 1));
  EXPECT_THAT(unary({"HSwish", "opset4"}, {-4, 3, 4}), ElementsAre(0, 3, 4));
  // sigmoid(ln 3) = 3 / 4
  const float ln3 = std::log(3.0f);
  EXPECT_THAT(unary({"Swish", "opset4"}, {ln3}), ElementsAre(FloatNear(0.75f * ln3, 1e-6f)));
  const auto beta = evaluate_layer({"Swish", "opset4"}, row({ln3 / 2}),
                                   [](IrFile& f) { return std::vector{f.floats({}, {2})}; }, {1});
  EXPECT_THAT(beta, ElementsAre(FloatNear(0.375f * ln3, 1e-6f)));
  const auto hard =
      evaluate_layer({"HardSigmoid"}, row({-10, 1}),
                     [](IrFile& f) {
                       return std::vector{f.floats({}, {0.5f}), f.floats({}, {0.25f})};
                     },
                     {2});
  EXPECT_THAT(hard, ElementsAre(0, 0.75f));
  const auto selu = evaluate_layer({"Selu"}, row({-std::log(2.0f), 1}),
                                   [](IrFile& f) {
                                     return std::vector{f.floats({1}, {4}), f.floats({1}, {3})};
                                   },
                                   {2});
  EXPECT_THAT(selu, ElementsAre(FloatNear(-6, 1e-5f), 3));
}

TEST(IrElementwise, PReluSlopesBelongToTheChannels) {
  const auto out = evaluate_layer({"PReLU"}, Tensor::from<float>({1, 2, 1, 2}, {-1, 2, -3, -4}),
                                  [](IrFile& f) {
                                    return std::vector{f.floats({2}, {0.5f, 2})};
                                  },
                                  {1, 2, 1, 2});
  EXPECT_THAT(out, ElementsAre(-0.5f, 2, -6, -8));
}

/// As many slopes as the last dimension, not the channels, has: NumPy's rules.
TEST(IrElementwise, PReluSlopesOfTheLastDimension) {
  const auto out =
      evaluate_layer({"PReLU"}, Tensor::from<float>({1, 2, 3}, {-1, -1, -1, 2, -2, -2}),
                     [](IrFile& f) {
                       return std::vector{f.floats({3}, {1, 2, 3})};
                     },
                     {1, 2, 3});
  EXPECT_THAT(out, ElementsAre(-1, -2, -3, 2, -4, -6));
}

TEST(IrElementwise, MatMulTransposes) {
  // A = [[1,2],[3,4]], B = [[5,6],[7,8]]: A^T B^T = [[1*5+3*6, 1*7+3*8], [2*5+4*6, 2*7+4*8]]
  const auto out = evaluate_layer({"MatMul", "opset1", "transpose_a=\"true\" transpose_b=\"True\""},
                                  Tensor::from<float>({2, 2}, {1, 2, 3, 4}),
                                  [](IrFile& f) {
                                    return std::vector{f.floats({2, 2}, {5, 6, 7, 8})};
                                  },
                                  {2, 2});
  EXPECT_THAT(out, ElementsAre(23, 31, 34, 46));
  // One dimension has nothing to transpose.
  const auto vector = evaluate_layer({"MatMul", "opset1", "transpose_a=\"true\""}, row({1, 2}),
                                     [](IrFile& f) {
                                       return std::vector{f.floats({2, 1}, {3, 4})};
                                     },
                                     {1});
  EXPECT_THAT(vector, ElementsAre(11));
}

TEST(IrElementwise, AttentionIsSoftmaxOfScaledProducts) {
  // Scores q k^T * 1 = [0, ln 3]: weights 1/4 and 3/4.
  const auto out = evaluate_layer(
      {"ScaledDotProductAttention", "opset13", "causal=\"false\""},
      Tensor::from<float>({1, 1, 1}, {1}),
      [](IrFile& f) {
        return std::vector{f.floats({1, 2, 1}, {0, std::log(3.0f)}), f.floats({1, 2, 1}, {4, 8})};
      },
      {1, 1, 1});
  EXPECT_THAT(out, ElementsAre(FloatNear(7, 1e-5f)));
  // Causal: query 0 sees key 0 only.
  const auto causal = evaluate_layer(
      {"ScaledDotProductAttention", "opset13", "causal=\"true\""},
      Tensor::from<float>({1, 2, 1}, {1, 1}),
      [](IrFile& f) {
        return std::vector{f.floats({1, 2, 1}, {0, std::log(3.0f)}), f.floats({1, 2, 1}, {4, 8})};
      },
      {1, 2, 1});
  EXPECT_THAT(causal, ElementsAre(4, FloatNear(7, 1e-5f)));
}

std::vector<float> reduced(const std::string& type, const std::string& data, const Shape& shape) {
  return evaluate_layer(
      {type, "opset1", data}, Tensor::from<float>({2, 2}, {1, 2, 3, 5}),
      [](IrFile& f) { return std::vector{f.integer(1)}; }, shape);
}

TEST(IrElementwise, Reductions) {
  EXPECT_THAT(reduced("ReduceSum", "keep_dims=\"true\"", {2, 1}), ElementsAre(3, 8));
  EXPECT_THAT(reduced("ReduceMean", "keep_dims=\"false\"", {2}), ElementsAre(1.5f, 4));
  EXPECT_THAT(reduced("ReduceMax", "", {2}), ElementsAre(2, 5));
  EXPECT_THAT(reduced("ReduceMin", "", {2}), ElementsAre(1, 3));
  EXPECT_THAT(reduced("ReduceProd", "", {2}), ElementsAre(2, 15));
  EXPECT_THAT(reduced("ReduceL1", "", {2}), ElementsAre(3, 8));
  const auto none = evaluate_layer(
      {"ReduceSum", "opset1", "keep_dims=\"true\""}, row({1, 2}),
      [](IrFile& f) { return std::vector{f.constant<int64_t>("i64", {0}, {})}; }, {2});
  EXPECT_THAT(none, ElementsAre(1, 2));
  const auto any = evaluate_layer(
      {"ReduceLogicalOr", "opset1", "keep_dims=\"false\""},
      Tensor::from<bool>({2, 2}, {false, true, false, false}),
      [](IrFile& f) { return std::vector{f.integers({1})}; }, {2}, nullptr, "BOOL");
  EXPECT_THAT(any, ElementsAre(1, 0));
}

TEST(IrElementwise, SoftmaxCumSumBucketize) {
  const Tensor x = Tensor::from<float>({2, 1}, {0, std::log(3.0f)});
  // Opset 1 means dimension 1 when the axis is left out.
  EXPECT_THAT(evaluate_layer({"SoftMax"}, x, {}, {2, 1}), ElementsAre(1, 1));
  EXPECT_THAT(evaluate_layer({"SoftMax", "opset8", "axis=\"-2\""}, x, {}, {2, 1}),
              ElementsAre(FloatNear(0.25f, 1e-6f), FloatNear(0.75f, 1e-6f)));
  const auto sums =
      evaluate_layer({"CumSum", "opset3", "exclusive=\"true\" reverse=\"true\""}, row({1, 2, 3}),
                     [](IrFile& f) { return std::vector{f.integer(0)}; }, {3});
  EXPECT_THAT(sums, ElementsAre(5, 3, 0));
  const auto bucket = [](const std::string& data) {
    return evaluate_layer(
        {"Bucketize", "opset3", data}, row({0, 1, 2, 9}),
        [](IrFile& f) {
          return std::vector{f.floats({3}, {1, 2, 4})};
        },
        {4}, nullptr, "I64");
  };
  EXPECT_THAT(bucket("with_right_bound=\"true\""), ElementsAre(0, 0, 1, 3));
  EXPECT_THAT(bucket("with_right_bound=\"false\""), ElementsAre(0, 1, 2, 3));
}

TEST(IrElementwise, TopKOrders) {
  const auto top = [](const std::string& data) {
    return evaluate_layer({"TopK", "opset3", data}, row({1, 9, 3, 7}),
                          [](IrFile& f) { return std::vector{f.integer(2)}; }, {2});
  };
  EXPECT_THAT(top("axis=\"0\" mode=\"max\" sort=\"value\""), ElementsAre(9, 7));
  EXPECT_THAT(top("axis=\"0\" mode=\"min\" sort=\"value\""), ElementsAre(1, 3));
  EXPECT_THAT(top("axis=\"0\" mode=\"max\" sort=\"index\""), ElementsAre(9, 7));
  const auto by_place =
      evaluate_layer({"TopK", "opset3", "axis=\"0\" mode=\"max\" sort=\"index\""},
                     row({1, 7, 3, 9}), [](IrFile& f) { return std::vector{f.integer(2)}; }, {2});
  EXPECT_THAT(by_place, ElementsAre(7, 9));
}

}  // namespace
}  // namespace het
