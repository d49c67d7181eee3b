#include "tests/readers/onnx/lift_testing.h"

/// Operators of com.microsoft with channels last and their kin, numbers of ai.onnx.ml.
namespace het {
namespace {

using test::Attr;
using test::Graph;
using test::run;
using Floats = std::vector<float>;

const std::string kNhwcDomain = "com.microsoft";
const std::string kMlDomain = "ai.onnx.ml";

Tensor nhwc_floats(const Shape& shape, const Floats& values) {
  return Tensor::from<float>(shape, std::span<const float>(values));
}

void expect_nhwc_run(const Graph& graph, const Tensor& x, const Floats& expected) {
  const Floats actual = run(graph, 17, x);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-4) << i;
}

TEST(OnnxNhwc, ConvolutionsKeepTheirChannelsLast) {
  // Two channels of one row of two: y = 10 a + b.
  Graph graph;
  graph.input("x", {{1, 1, 2, 2}})
      .initializer(test::float_tensor("w", {1, 2, 1, 1}, {10, 1}))
      .node("NhwcConv", {"x", "w"}, {"y"}, {}, kNhwcDomain)
      .output("y");
  expect_nhwc_run(graph, nhwc_floats({1, 1, 2, 2}, {1, 2, 3, 4}), {12, 34});
  Graph fused;
  fused.input("x", {{1, 1, 2, 2}})
      .initializer(test::float_tensor("w", {1, 2, 1, 1}, {10, 1}))
      .initializer(test::float_tensor("z", {1, 1, 2, 1}, {-20, 1}))
      .node("NhwcFusedConv", {"x", "w", "", "z"}, {"y"}, {Attr("activation", "Relu")}, kNhwcDomain)
      .output("y");
  expect_nhwc_run(fused, nhwc_floats({1, 1, 2, 2}, {1, 2, 3, 4}), {0, 35});
}

TEST(OnnxNhwc, SkipGroupNormGivesItsSumToo) {
  // One value of skip per channel, in two dimensions. Sums 2, 6 and 4, 8: one group per channel,
  // mean 3 and 7, deviation 1.
  for (const bool of_sum : {false, true}) {
    Graph graph;
    graph.input("x", {{1, 1, 2, 2}})
        .initializer(test::float_tensor("gamma", {2}, {1, 10}))
        .initializer(test::float_tensor("beta", {2}, {0, 5}))
        .initializer(test::float_tensor("skip", {1, 2}, {1, 2}))
        .initializer(test::float_tensor("bias", {2}, {0, 1}))
        .node("SkipGroupNorm", {"x", "gamma", "beta", "skip", "bias"}, {"y", "s"},
              {Attr("groups", 2), Attr("activation", 0)}, kNhwcDomain)
        .output(of_sum ? "s" : "y");
    expect_nhwc_run(graph, nhwc_floats({1, 1, 2, 2}, {1, 3, 3, 5}),
                    of_sum ? Floats{2, 6, 4, 8} : Floats{-1, -5, 1, 15});
  }
}

TEST(OnnxNhwc, RotaryEmbeddingFromAPositionOrWithAllOfThem) {
  // The cache's rows turn by nothing, a quarter and a half.
  const auto graph_of = [](Graph& graph, const std::vector<int64_t>& dims,
                           const std::vector<int64_t>& positions) {
    graph.input("x", {{1, 1, 2, 2}})
        .initializer(test::int64_tensor("p", dims, positions))
        .initializer(test::float_tensor("c", {3, 1}, {1, 0, -1}))
        .initializer(test::float_tensor("s", {3, 1}, {0, 1, 0}))
        .node("RotaryEmbedding", {"x", "p", "c", "s"}, {"y"}, {}, kNhwcDomain)
        .output("y");
  };
  const Tensor x = nhwc_floats({1, 1, 2, 2}, {1, 2, 3, 4});
  Graph first;
  graph_of(first, {1}, {1});
  expect_nhwc_run(first, x, {-2, 1, -3, -4});
  Graph all;
  graph_of(all, {1, 2}, {2, 0});
  expect_nhwc_run(all, x, {-1, -2, 3, 4});
}

TEST(OnnxNhwc, BiasAddAndInverse) {
  Graph sum;
  sum.input("x", {{1, 2}})
      .initializer(test::float_tensor("b", {2}, {10, 20}))
      .initializer(test::float_tensor("s", {1, 2}, {100, 200}))
      .node("BiasAdd", {"x", "b", "s"}, {"y"}, {}, kNhwcDomain)
      .output("y");
  expect_nhwc_run(sum, nhwc_floats({1, 2}, {1, 2}), {111, 222});
  Graph inverse;
  inverse.input("x", {{2, 2}}).node("Inverse", {"x"}, {"y"}, {}, kNhwcDomain).output("y");
  expect_nhwc_run(inverse, nhwc_floats({2, 2}, {1, 2, 3, 5}), {-5, 2, 3, -1});
}

TEST(OnnxMl, ImputerAndLabelEncoder) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Graph imputer;
  imputer.input("x", {{2, 2}})
      .node("Imputer", {"x"}, {"y"},
            {Attr("imputed_value_floats", Floats{7, 8}), Attr("replaced_value_float", nan)},
            kMlDomain)
      .output("y");
  expect_nhwc_run(imputer, nhwc_floats({2, 2}, {nan, 1, 2, nan}), {7, 1, 2, 8});
  Graph encoder;
  encoder.input("x", {{3}})
      .node("LabelEncoder", {"x"}, {"y"},
            {Attr("keys_floats", Floats{1, 2}), Attr("values_int64s", std::vector<int64_t>{10, 20}),
             Attr("default_int64", 5)},
            kMlDomain)
      .output("y");
  expect_nhwc_run(encoder, nhwc_floats({3}, {2, 3, 1}), {20, 5, 10});
}

}  // namespace
}  // namespace het
