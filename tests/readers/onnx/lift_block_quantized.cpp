#include <string>
#include <vector>

#include "tests/readers/onnx/lift_testing.h"

/// Operators of com.microsoft whose weights are quantised in blocks; numbers worked out by hand.
namespace het {
namespace {

using test::Attr;
using test::Graph;
using test::run;
using Floats = std::vector<float>;

const std::string kDomain = "com.microsoft";

/// Two rows of three blocks of 16 numbers of 4 bits: 9 and 7 in turn.
std::string rows_of_nines_and_sevens() {
  return test::raw_tensor("w", test::kUint8, {2, 24}, std::string(48, '\x79'));
}

Floats gathered(Graph& graph, const std::vector<std::string>& inputs,
                const std::vector<Attr>& more = {}) {
  std::vector<Attr> attributes{Attr("gather_axis", 0), Attr("quantize_axis", 1),
                               Attr("block_size", 16)};
  attributes.insert(attributes.end(), more.begin(), more.end());
  graph.input("i", {{1, 2}}, test::kInt64)
      .node("GatherBlockQuantized", inputs, {"y"}, attributes, kDomain)
      .output("y");
  return run(graph, 21, Tensor::from<int64_t>({1, 2}, {1, 0}));
}

TEST(OnnxBlockQuantized, GatherOfPackedRows) {
  Graph graph;
  graph.initializer(rows_of_nines_and_sevens())
      .initializer(test::float_tensor("s", {2, 3}, {1, 2, 3, 10, 20, 30}));
  // Around the middle, 8.
  const Floats y = gathered(graph, {"w", "i", "s"});
  ASSERT_EQ(y.size(), 96u);
  EXPECT_EQ(y[0], 10);
  EXPECT_EQ(y[1], -10);
  EXPECT_EQ(y[47], -30);
  EXPECT_EQ(y[48 + 16], 2);
}

TEST(OnnxBlockQuantized, ZeroPointsOfRowsBeginWithAByte) {
  Graph graph;
  graph.initializer(rows_of_nines_and_sevens())
      .initializer(test::float_tensor("s", {2, 3}, {1, 1, 1, 1, 1, 1}))
      .initializer(test::raw_tensor("z", test::kUint8, {2, 2}, std::string("\x21\xf3\x54\xf6", 4)));
  const Floats y = gathered(graph, {"w", "i", "s", "z"}, {Attr("bits", 4)});
  ASSERT_EQ(y.size(), 96u);
  const Floats firsts{y[0], y[16], y[32], y[48], y[64], y[80]};
  EXPECT_EQ(firsts, (Floats{9 - 4, 9 - 5, 9 - 6, 9 - 1, 9 - 2, 9 - 3}));
}

TEST(OnnxBlockQuantized, GatherOfBytesAndOfInt4) {
  Graph bytes;
  bytes.initializer(test::raw_tensor("w", test::kUint8, {2, 16}, std::string(32, '\x7f')))
      .initializer(test::float_tensor("s", {2, 1}, {1, 2}));
  EXPECT_EQ(gathered(bytes, {"w", "i", "s"}, {Attr("bits", 8)})[0], -2) << "the middle is 128";
  constexpr int kInt4 = 22;
  Graph nibbles;
  nibbles.initializer(test::raw_tensor("w", kInt4, {2, 16}, std::string(16, '\x1f')))
      .initializer(test::float_tensor("s", {2, 1}, {1, 2}));
  const Floats y = gathered(nibbles, {"w", "i", "s"});
  EXPECT_EQ(y[0], -2);
  EXPECT_EQ(y[1], 2) << "without a zero point";
}

TEST(OnnxBlockQuantized, RefusesWhatDoesNotFit) {
  const auto reason = [](const std::string& weights, const std::vector<Attr>& attributes) {
    Graph graph;
    graph.initializer(weights)
        .initializer(test::float_tensor("s", {2, 3}, {1, 1, 1, 1, 1, 1}))
        .initializer(test::raw_tensor("z", test::kUint8, {2, 1}, std::string(2, '\0')))
        .input("i", {{1}}, test::kInt64)
        .node("GatherBlockQuantized", {"w", "i", "s", "z"}, {"y"}, attributes, kDomain)
        .output("y");
    const auto model = test::read(graph);
    return model ? (*model)->find_node("y")->unsupported_reason() : model.error().message();
  };
  EXPECT_NE(reason(rows_of_nines_and_sevens(), {}).find("does not hold 8 numbers of 4 bits"),
            std::string::npos);
  EXPECT_NE(reason(rows_of_nines_and_sevens(), {Attr("bits", 3)}).find("numbers of 3 bits"),
            std::string::npos);
  EXPECT_NE(reason(rows_of_nines_and_sevens(), {Attr("gather_axis", 1)}).find("axes"),
            std::string::npos);
  EXPECT_NE(reason(rows_of_nines_and_sevens(), {Attr("quantize_axis", 7)}).find("axes"),
            std::string::npos);
  EXPECT_NE(reason(test::raw_tensor("w", test::kUint8, {}, std::string(1, '\0')), {}).find("axes"),
            std::string::npos);
}

TEST(OnnxBlockQuantized, NumbersOfBitsandbytes) {
  // W [2, 3], the first number in the upper bits; blocks of 4 along the flat matrix.
  const auto product = [](int64_t kind) {
    Graph graph;
    graph.input("x", {{1, 3}})
        .initializer(test::raw_tensor("w", test::kUint8, {3, 1}, std::string("\x3b\x07\xff", 3)))
        .initializer(test::float_tensor("a", {2}, {2, 4}))
        .node("MatMulBnb4", {"x", "w", "a"}, {"y"},
              {Attr("K", 3), Attr("N", 2), Attr("block_size", 4), Attr("quant_type", kind)},
              kDomain)
        .output("y");
    return run(graph, 17, Tensor::from<float>({1, 3}, {1, 10, 100}));
  };
  // Rows 1 -1 0 | 0.25 -0.25 -0.25, the first four times 2, the others times 4.
  const Floats floats = product(0);
  ASSERT_EQ(floats.size(), 2u);
  EXPECT_NEAR(floats[0], 2 - 20, 1e-4);
  EXPECT_NEAR(floats[1], 0.5f - 10 - 100, 1e-4);
  const Floats quantiles = product(1);
  ASSERT_EQ(quantiles.size(), 2u);
  EXPECT_NEAR(quantiles[0], 2 * (-0.3949175f + 10 * 0.3379152f - 100), 1e-4);
  EXPECT_NEAR(quantiles[1], 0 + 4 * 10 + 4 * 100, 1e-4);
}

}  // namespace
}  // namespace het
