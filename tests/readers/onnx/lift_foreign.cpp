#include <cmath>
#include <functional>

#include "tests/readers/onnx/lift_testing.h"

/// Operators of com.microsoft and ai.onnx.ml: what they turn into, and what that computes.
namespace het {
namespace {

using test::Attr;
using test::Graph;
using test::lifted;
using test::run;
using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

const std::string kMicrosoft = "com.microsoft";
const std::string kMl = "ai.onnx.ml";

Tensor floats(const Shape& shape, const Floats& values) {
  return Tensor::from<float>(shape, std::span<const float>(values));
}

std::string float_scalar(const std::string& name, float value) {
  return test::float_tensor(name, {}, {value});
}

void expect_run(const Graph& graph, const Tensor& x, const Floats& expected) {
  const Floats actual = run(graph, 17, x);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-4) << i;
}

TEST(OnnxForeign, ExperimentalOperators) {
  // x: one picture of one channel, 3 x 3.
  const Tensor x = floats({1, 1, 3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  const auto expect = [&](const std::string& type, const std::vector<Attr>& attributes,
                          const Floats& expected) {
    Graph graph;
    graph.input("x", {{1, 1, 3, 3}}).node(type, {"x"}, {"y"}, attributes).output("y");
    expect_run(graph, x, expected);
  };
  expect("Affine", {Attr("alpha", 2.0f), Attr("beta", 1.0f)}, {1, 3, 5, 7, 9, 11, 13, 15, 17});
  expect("Affine", {}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  expect("Scale", {Attr("scale", -1.0f)}, {0, -1, -2, -3, -4, -5, -6, -7, -8});
  expect("ImageScaler", {Attr("bias", Floats{-1}), Attr("scale", 2.0f)},
         {-1, 1, 3, 5, 7, 9, 11, 13, 15});
  // Border: left, top, right, bottom.
  expect("Crop", {Attr("border", Ints{1, 0, 0, 2})}, {1, 2});
  expect("Crop", {Attr("border", Ints{0, 1, 1, 0})}, {3, 4, 6, 7});
  expect("Crop", {Attr("border", Ints{1, 1, 0, 0}), Attr("scale", Ints{1, 2})}, {4, 5});
  const auto row = [&](const std::string& type, const std::function<double(double)>& f) {
    Floats expected;
    for (int i = 0; i < 9; ++i) expected.push_back(static_cast<float>(f(i)));
    expect(type, {Attr("alpha", 2.0f), Attr("beta", 0.5f)}, expected);
  };
  row("ScaledTanh", [](double v) { return 2 * std::tanh(0.5 * v); });
  row("ParametricSoftplus", [](double v) { return 2 * std::log1p(std::exp(0.5 * v)); });
}

TEST(OnnxForeign, CropWithoutABorderIsRefused) {
  Graph graph;
  graph.input("x", {{1, 1, 3, 3}})
      .node("Crop", {"x"}, {"y"}, {Attr("border", Ints{1, -1, 0, 0})})
      .output("y");
  EXPECT_NE(lifted(graph, 7).find("Crop"), std::string::npos);
}

TEST(OnnxForeign, FusedConvIsTakenApart) {
  Graph graph;
  graph.input("x", {{1, 1, 2, 2}})
      .input("w", {{1, 1, 1, 1}})
      .input("z", {{1, 1, 2, 2}})
      .node("FusedConv", {"x", "w", "", "z"}, {"y"},
            {Attr("activation", "LeakyRelu"), Attr("activation_params", Floats{0.5f}),
             Attr("group", 1)},
            kMicrosoft)
      .output("y");
  EXPECT_EQ(lifted(graph, 17),
            "y/Conv = Conv(x, w) {group=1} : ?\n"
            "y/Add_2 = Add(y/Conv, z) : ?\n"
            "y = LeakyRelu(y/Add_2) {alpha=0.5} : ?\n");
}

TEST(OnnxForeign, FusedGemmAppliesItsActivation) {
  Graph graph;
  graph.input("x", {{1, 2}})
      .initializer(test::float_tensor("w", {2, 2}, {1, 0, 0, 1}))
      .node("FusedGemm", {"x", "w"}, {"y"},
            {Attr("transB", 1), Attr("activation", "LeakyRelu"), Attr("activation_alpha", 0.5f)},
            kMicrosoft)
      .output("y");
  expect_run(graph, floats({1, 2}, {1, -2}), {1, -1});
}

TEST(OnnxForeign, FusedMatMulTransposesAndScales) {
  Graph graph;
  graph.input("x", {{2, 1}})
      .initializer(test::float_tensor("w", {2, 1}, {3, 4}))
      .node("FusedMatMul", {"x", "w"}, {"y"}, {Attr("transA", 1), Attr("alpha", 2.0f)}, kMicrosoft)
      .output("y");
  expect_run(graph, floats({2, 1}, {1, 2}), {22});
}

/// Two matrices whose rows lie before the batch: x[row][matrix][column].
TEST(OnnxForeign, FusedMatMulWithRowsBeforeTheBatch) {
  const auto expect = [](int64_t turned, const Floats& expected) {
    Graph graph;
    graph.input("x", {{2, 2, 2}})
        .initializer(test::float_tensor("w", {2, 2, 1}, {1, 10, 100, 1000}))
        .node("FusedMatMul", {"x", "w"}, {"y"}, {Attr("transBatchA", 1), Attr("transA", turned)},
              kMicrosoft)
        .output("y");
    expect_run(graph, floats({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), expected);
  };
  expect(0, {21, 65, 4300, 8700});
  expect(1, {51, 62, 7300, 8400});
}

TEST(OnnxForeign, SkipLayerNormalizationGivesItsSumToo) {
  for (const bool of_sum : {false, true}) {
    Graph graph;
    graph.input("x", {{1, 1, 2}})
        .initializer(test::float_tensor("skip", {1, 1, 2}, {1, 1}))
        .initializer(test::float_tensor("gamma", {2}, {2, 2}))
        .initializer(test::float_tensor("beta", {2}, {1, 1}))
        .initializer(test::float_tensor("bias", {2}, {1, 3}))
        .node("SkipLayerNormalization", {"x", "skip", "gamma", "beta", "bias"},
              {"y", "", "", "sum"}, {}, kMicrosoft)
        .output(of_sum ? "sum" : "y");
    // 1 + 1 + 1 = 3 and 3 + 1 + 3 = 7: mean 5, deviation 2.
    expect_run(graph, floats({1, 1, 2}, {1, 3}), of_sum ? Floats{3, 7} : Floats{-1, 3});
  }
}

/// Three words of two rows; positions are counted or given.
TEST(OnnxForeign, EmbedLayerNormalizationAddsTables) {
  for (const std::string wanted : {"y", "words", "sum"}) {
    for (const bool has_positions : {false, true}) {
      Graph graph;
      graph.input("x", {{2, 3}}, test::kInt64)
          .initializer(test::int64_tensor("segments", {2, 3}, {0, 0, 1, 1, 1, 0}))
          .initializer(test::float_tensor("word_table", {2, 2}, {1, 3, 10, 20}))
          .initializer(
              test::float_tensor("position_table", {4, 2}, {0, 0, 100, 200, 300, 400, 9, 9}))
          .initializer(test::float_tensor("segment_table", {2, 2}, {0, 0, 1000, 5000}))
          .initializer(test::float_tensor("gamma", {2}, {2, 2}))
          .initializer(test::float_tensor("beta", {2}, {1, 1}))
          .initializer(test::int32_data_tensor("mask", test::kInt32, {2, 3}, {1, 1, 0, 1, 1, 1}))
          .initializer(test::int64_tensor("positions", {2, 3}, {0, 1, 2, 0, 1, 2}))
          .node("EmbedLayerNormalization",
                {"x", "segments", "word_table", "position_table", "segment_table", "gamma", "beta",
                 "mask", has_positions ? "positions" : ""},
                {"y", "words", "sum"}, {}, kMicrosoft)
          .output(wanted, std::nullopt, wanted == "words" ? test::kInt32 : test::kFloat);
      const Tensor ids = Tensor::from<int64_t>({2, 3}, std::vector<int64_t>{0, 1, 1, 1, 0, 0});
      const Floats sums{1, 3, 110, 220, 1310, 5420, 1010, 5020, 1101, 5203, 301, 403};
      expect_run(graph, ids,
                 wanted == "sum"     ? sums
                 : wanted == "words" ? Floats{2, 3}
                                     : Floats{-1, 3, -1, 3, -1, 3, -1, 3, -1, 3, -1, 3});
    }
  }
}

TEST(OnnxForeign, GroupNormWithChannelsLast) {
  Graph graph;
  graph.input("x", {{1, 1, 2, 2}})
      .initializer(test::float_tensor("gamma", {2}, {1, 1}))
      .initializer(test::float_tensor("beta", {2}, {0, 10}))
      .node("GroupNorm", {"x", "gamma", "beta"}, {"y"},
            {Attr("groups", 2), Attr("activation", 0), Attr("epsilon", 1e-9f)}, kMicrosoft)
      .output("y");
  // Channel 0 is 1, 5 and channel 1 is 0, 4: both -1, 1.
  expect_run(graph, floats({1, 1, 2, 2}, {1, 0, 5, 4}), {-1, 9, 1, 11});
}

TEST(OnnxForeign, NhwcMaxPool) {
  Graph graph;
  graph.input("x", {{1, 2, 2, 2}})
      .node("NhwcMaxPool", {"x"}, {"y"}, {Attr("kernel_shape", Ints{2, 1})}, kMicrosoft)
      .output("y");
  expect_run(graph, floats({1, 2, 2, 2}, {1, 8, 2, 7, 3, 6, 4, 5}), {3, 8, 4, 7});
}

TEST(OnnxForeign, BiasSplitGeluMultipliesHalves) {
  Graph graph;
  graph.input("x", {{1, 1, 4}})
      .initializer(test::float_tensor("bias", {4}, {1, 1, 20, 0}))
      .node("BiasSplitGelu", {"x", "bias"}, {"y"}, {}, kMicrosoft)
      .output("y");
  expect_run(graph, floats({1, 1, 4}, {1, 2, 0, 0}), {40, 0});
}

TEST(OnnxForeign, QGemmInIntegers) {
  for (const bool quantised : {false, true}) {
    Graph graph;
    graph.input("x", {{1, 2}}, test::kUint8)
        .initializer(float_scalar("sa", 0.5f))
        .initializer(test::raw_tensor("za", test::kUint8, {}, "\x02"))
        .initializer(test::raw_tensor("b", test::kInt8, {1, 2}, "\x03\xff"))
        .initializer(float_scalar("sb", 0.25f))
        .initializer(test::raw_tensor("zb", test::kInt8, {}, "\x01"))
        .initializer(test::int32_data_tensor("c", test::kInt32, {1}, {10}))
        .initializer(float_scalar("sy", 0.5f))
        .initializer(test::raw_tensor("zy", test::kUint8, {}, "\x07"));
    std::vector<std::string> inputs{"x", "sa", "za", "b", "sb", "zb", "c"};
    if (quantised) inputs.insert(inputs.end(), {"sy", "zy"});
    graph.node("QGemm", inputs, {"y"}, {Attr("transB", 1)}, kMicrosoft).output("y");
    // (6 - 2)(3 - 1) + (3 - 2)(-1 - 1) + 10 = 16, times 1/8 is 2, which 0.5 makes 4 + 7.
    expect_run(graph, Tensor::from<uint8_t>({1, 2}, {6, 3}), {quantised ? 11.0f : 2.0f});
  }
}

TEST(OnnxForeign, QLinearReduceMeanAndSoftmax) {
  Graph graph;
  graph.input("x", {{1, 2}}, test::kUint8)
      .initializer(float_scalar("s", 0.5f))
      .initializer(test::raw_tensor("z", test::kUint8, {}, "\x02"))
      .node("QLinearReduceMean", {"x", "s", "z", "s", "z"}, {"y"},
            {Attr("axes", Ints{1}), Attr("keepdims", 0)}, kMicrosoft)
      .output("y");
  expect_run(graph, Tensor::from<uint8_t>({1, 2}, {4, 8}), {6});
}

TEST(OnnxForeign, MatMulNBitsUnpacksBlocks) {
  // One output of 16 weights in 4 bits: 9 and 7 in turn around the middle 8, scale 2.
  Graph graph;
  graph.input("x", {{1, 16}})
      .initializer(test::raw_tensor("w", test::kUint8, {1, 1, 8}, std::string(8, '\x79')))
      .initializer(test::float_tensor("s", {1}, {2}))
      .node("MatMulNBits", {"x", "w", "s"}, {"y"},
            {Attr("K", 16), Attr("N", 1), Attr("bits", 4), Attr("block_size", 16)}, kMicrosoft)
      .output("y");
  Floats x(16);
  x[0] = 1;
  x[3] = 10;
  expect_run(graph, floats({1, 16}, x), {2 * 1 - 2 * 10});
  Graph bad;
  bad.input("x", {{1, 16}})
      .input("w", {{1, 1, 8}}, test::kUint8)
      .input("s", {{1}})
      .node("MatMulNBits", {"x", "w", "s"}, {"y"},
            {Attr("K", 16), Attr("N", 1), Attr("bits", 4), Attr("block_size", 16)}, kMicrosoft)
      .output("y");
  const auto model = test::read(bad);
  ASSERT_TRUE(model);
  EXPECT_NE((*model)->find_node("y")->unsupported_reason().find("uint8 constant"),
            std::string::npos);
}

TEST(OnnxForeign, MultiHeadAttentionMasksKeys) {
  // Scores 0 and ln 3 give 1/4 and 3/4; a mask of 0 for the second key leaves the first.
  for (const int64_t second : {1, 0}) {
    Graph graph;
    graph.input("x", {{1, 1, 1}})
        .initializer(test::float_tensor("k", {1, 2, 1}, {0, std::log(3.0f)}))
        .initializer(test::float_tensor("v", {1, 2, 1}, {10, 20}))
        .initializer(
            test::int32_data_tensor("m", test::kInt32, {1, 2}, {1, static_cast<int32_t>(second)}))
        .node("MultiHeadAttention", {"x", "k", "v", "", "m"}, {"y"}, {Attr("num_heads", 1)},
              kMicrosoft)
        .output("y");
    expect_run(graph, floats({1, 1, 1}, {1}), {second == 1 ? 17.5f : 10.0f});
  }
}

TEST(OnnxForeign, AttentionProjectsItsInput) {
  // Two tokens 0 and 1: q = 1 from the bias, k = x ln 3, v = 10 + 10 x.
  Graph graph;
  graph.input("x", {{1, 2, 1}})
      .initializer(test::float_tensor("w", {1, 3}, {0, std::log(3.0f), 10}))
      .initializer(test::float_tensor("b", {3}, {1, 0, 10}))
      .node("Attention", {"x", "w", "b"}, {"y"}, {Attr("num_heads", 1), Attr("unidirectional", 1)},
            kMicrosoft)
      .output("y");
  expect_run(graph, floats({1, 2, 1}, {0, 1}), {10, 17.5});
}

TEST(OnnxForeign, ArithmeticOfOnnxMl) {
  const auto graph_of = [](Graph& graph, const char* op_type, const std::vector<Attr>& attributes) {
    graph.input("x", {{2, 2}}).node(op_type, {"x"}, {"y"}, attributes, kMl).output("y");
  };
  const Tensor x = floats({2, 2}, {3, -4, 0, 0});
  Graph scaler;
  graph_of(scaler, "Scaler", {Attr("offset", Floats{1, 0}), Attr("scale", Floats{2, 3})});
  expect_run(scaler, x, {4, -12, -2, 0});
  Graph binarizer;
  graph_of(binarizer, "Binarizer", {Attr("threshold", 0.5f)});
  expect_run(binarizer, x, {1, 0, 0, 0});
  Graph l2;
  graph_of(l2, "Normalizer", {Attr("norm", "L2")});
  expect_run(l2, x, {0.6f, -0.8f, 0, 0});
  Graph regressor;
  graph_of(regressor, "LinearRegressor",
           {Attr("coefficients", Floats{1, 2}), Attr("intercepts", Floats{100})});
  expect_run(regressor, x, {95, 100});
}

}  // namespace
}  // namespace het
