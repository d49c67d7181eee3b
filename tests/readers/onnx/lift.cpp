#include <gtest/gtest.h>

#include "inference/passes/prepare_model.h"
#include "tests/readers/onnx/lift_testing.h"

/// What nodes of old opsets turn into: the model's text, and for rules with arithmetic of their own
/// the values as well.
namespace het {
namespace {

using test::Attr;
using test::Graph;
using test::lifted;
using test::run;

Tensor counting(const Shape& shape) {
  Tensor tensor = *Tensor::allocate({ElementType::Float32, shape});
  float next = 0;
  for (float& v : tensor.values<float>()) v = next++;
  return tensor;
}

TEST(OnnxLift, AxesBecomeAnInput) {
  const std::vector<int64_t> axes = {1};
  struct Case {
    const char* op_type;
    int64_t old_opset;
    int64_t new_opset;
  };
  for (const Case& c :
       {Case{"Squeeze", 11, 13}, Case{"Unsqueeze", 11, 13}, Case{"ReduceSum", 11, 13},
        Case{"ReduceMean", 17, 18}, Case{"ReduceMax", 13, 18}, Case{"ReduceL2", 7, 18}}) {
    Graph graph;
    graph.input("x", {{2, 1}}).node(c.op_type, {"x"}, {"y"}, {Attr("axes", axes)}).output("y");
    const std::string type = c.op_type;
    EXPECT_EQ(lifted(graph, c.old_opset), "y = " + type + "(x, y/axes=[1]) : ?\n");
    EXPECT_EQ(lifted(graph, c.new_opset), "y = " + type + "(x) {axes=[1]} : ?\n");
  }
}

TEST(OnnxLift, Slice) {
  Graph graph;
  graph.input("x", {{4, 4}})
      .node("Slice", {"x"}, {"y"},
            {Attr("starts", std::vector<int64_t>{1}), Attr("ends", std::vector<int64_t>{-1}),
             Attr("axes", std::vector<int64_t>{0})})
      .output("y");
  EXPECT_EQ(lifted(graph, 9), "y = Slice(x, y/starts=[1], y/ends=[-1], y/axes=[0]) : ?\n");
}

TEST(OnnxLift, ClipBoundsHaveTheTypeOfTheData) {
  Graph graph;
  graph.input("x", {{4}}).node("Clip", {"x"}, {"y"}, {Attr("max", 6.0f)}).output("y");
  EXPECT_EQ(lifted(graph, 6), "y = Clip(x, -, y/max=6) : ?\n");

  Graph half;
  half.input("x", {{4}}, test::kFloat16)
      .node("Relu", {"x"}, {"r"})
      .node("Clip", {"r"}, {"y"}, {Attr("min", 1.0f), Attr("max", 6.0f)})
      .output("y");
  const auto model = test::read(half, 7);
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ((*model)->find_value("y/min")->desc().type, ElementType::Float16);

  // With two floating-point types in the file the type is only known later.
  Graph mixed;
  mixed.input("x", {{4}}, test::kFloat16)
      .input("z", {{4}})
      .node("Relu", {"x"}, {"r"})
      .node("Clip", {"r"}, {"y"}, {Attr("min", 1.0f)})
      .output("y")
      .output("z");
  EXPECT_EQ(lifted(mixed, 7),
            "r = Relu(x) : ?\n"
            "y/CastLike = CastLike(y/min=1, r) : ?\n"
            "y = Clip(r, y/CastLike) : ?\n");
}

TEST(OnnxLift, Pad) {
  Graph graph;
  graph.input("x", {{4}})
      .node(
          "Pad", {"x"}, {"y"},
          {Attr("pads", std::vector<int64_t>{1, 2}), Attr("value", 3.0f), Attr("mode", "constant")})
      .output("y");
  EXPECT_EQ(lifted(graph, 10), "y = Pad(x, y/pads=[1,2], y/value=3) {mode=constant} : ?\n");
}

TEST(OnnxLift, TopKSplitAndDropout) {
  Graph topk;
  topk.input("x", {{4}}).node("TopK", {"x"}, {"v", "i"}, {Attr("k", 2)}).output("v").output("i");
  EXPECT_EQ(lifted(topk, 9), "v, i = TopK(x, v/k=[2]) : ?, ?\n");

  Graph split;
  split.input("x", {{4}})
      .node("Split", {"x"}, {"a", "b"}, {Attr("split", std::vector<int64_t>{1, 3})})
      .node("Split", {"x"}, {"c", "d"})
      .output("a")
      .output("d");
  EXPECT_EQ(lifted(split, 11),
            "a, b = Split(x, a/split=[1,3]) : ?, ?\n"
            "c, d = Split(x) {num_outputs=2} : ?, ?\n");

  Graph dropout;
  dropout.input("x", {{4}}).node("Dropout", {"x"}, {"y", "m"}, {Attr("ratio", 0.3f)}).output("y");
  EXPECT_EQ(lifted(dropout, 7), "y = Dropout(x, y/ratio=0.3) : ?\n");
}

TEST(OnnxLift, RenamedThings) {
  Graph graph;
  graph.input("x", {{4}})
      .input("i", {{4}}, test::kInt64)
      .node("Scatter", {"x", "i", "x"}, {"a"})
      .node("GridSample", {"x", "x"}, {"b"})
      .node("GridSample", {"x", "x"}, {"c"}, {Attr("mode", "bicubic")})
      .node("RoiAlign", {"x", "x", "i"}, {"d"})
      .node("Cast", {"x"}, {"e"}, {Attr("to", "INT64")})
      .output("a")
      .output("b")
      .output("c")
      .output("d")
      .output("e");
  const std::string text = lifted(graph, 5);
  EXPECT_NE(text.find("a = ScatterElements(x, i, x)"), std::string::npos) << text;
  EXPECT_NE(text.find("b = GridSample(x, x) {mode=linear}"), std::string::npos) << text;
  EXPECT_NE(text.find("c = GridSample(x, x) {mode=cubic}"), std::string::npos) << text;
  EXPECT_NE(text.find("coordinate_transformation_mode=output_half_pixel"), std::string::npos);
  EXPECT_NE(text.find("e = Cast(x) {to=7}"), std::string::npos) << text;
}

TEST(OnnxLift, SoftmaxOverTheLastDimensionStays) {
  Graph graph;
  graph.input("x", {{2, 3}}).node("Softmax", {"x"}, {"y"}).output("y");
  EXPECT_EQ(lifted(graph, 11), "y = Softmax(x) {axis=-1} : ?\n");
  Graph last;
  last.input("x", {{2, 3, 4}}).node("LogSoftmax", {"x"}, {"y"}, {Attr("axis", -1)}).output("y");
  EXPECT_EQ(lifted(last, 11), "y = LogSoftmax(x) {axis=-1} : ?\n");
  EXPECT_EQ(lifted(graph, 13), "y = Softmax(x) : ?\n");
}

TEST(OnnxLift, SoftmaxSawItsInputAsAMatrix) {
  Graph graph;
  graph.input("x", {{2, 3, 4}}).node("Softmax", {"x"}, {"y"}).output("y");
  EXPECT_EQ(lifted(graph, 11),
            "y/Flatten = Flatten(x) {axis=1} : ?\n"
            "y/Softmax_2 = Softmax(y/Flatten) {axis=-1} : ?\n"
            "y/Shape_3 = Shape(x) : ?\n"
            "y = Reshape(y/Softmax_2, y/Shape_3) : ?\n");
  const std::vector<float> values = run(graph, 11, counting({2, 3, 4}));
  ASSERT_EQ(values.size(), 24u);
  float sum = 0;
  for (size_t i = 0; i < 12; ++i) sum += values[i];
  EXPECT_NEAR(sum, 1.0f, 1e-5f) << "one distribution per row of the matrix";
}

TEST(OnnxLift, UpsampleBecomesResize) {
  Graph graph;
  graph.input("x", {{1, 1, 1, 2}})
      .node("Upsample", {"x"}, {"y"},
            {Attr("mode", "nearest"), Attr("scales", std::vector<float>{1, 1, 2, 2})})
      .output("y");
  EXPECT_EQ(lifted(graph, 7),
            "y = Resize(x, -, y/scales=[1,1,2,2]) {coordinate_transformation_mode=asymmetric "
            "mode=nearest nearest_mode=floor} : ?\n");
  EXPECT_EQ(run(graph, 7, counting({1, 1, 1, 2})), (std::vector<float>{0, 0, 1, 1, 0, 0, 1, 1}));

  Graph input;
  input.input("x", {{1, 1, 1, 2}})
      .initializer(test::float_tensor("s", {4}, {1, 1, 1, 2}))
      .node("Upsample", {"x", "s"}, {"y"}, {Attr("mode", "linear")})
      .output("y");
  EXPECT_EQ(run(input, 9, counting({1, 1, 1, 2})), (std::vector<float>{0, 0.5f, 1, 1}));
}

TEST(OnnxLift, ResizeOfOpset10RoundsAsTheDirectionSays) {
  const auto nearest = [](const std::vector<float>& scales, int64_t opset) {
    Graph graph;
    graph.input("x", {{1, 1, 1, 4}})
        .initializer(test::float_tensor("s", {4}, scales))
        .node("Resize", {"x", "s"}, {"y"}, {Attr("mode", "nearest")})
        .output("y");
    return lifted(graph, opset);
  };
  EXPECT_NE(nearest({1, 1, 2, 2}, 10).find("nearest_mode=floor"), std::string::npos);
  EXPECT_NE(nearest({1, 1, 1, 0.6f}, 10).find("nearest_mode=ceil"), std::string::npos);

  // Both directions at once cannot be expressed: refused, not answered wrongly.
  Graph graph;
  graph.input("x", {{1, 1, 4, 4}})
      .initializer(test::float_tensor("s", {4}, {1, 1, 2, 0.5f}))
      .node("Resize", {"x", "s"}, {"y"}, {Attr("mode", "nearest")})
      .output("y");
  const auto model = test::read(graph, 10);
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_NE((*model)->find_node("y")->unsupported_reason().find("opset 10"), std::string::npos);
}

TEST(OnnxLift, ResizeOfOpset11) {
  // Half a pixel to the right of half_pixel: ONNX' own test of tf_half_pixel_for_nn, by hand.
  Graph graph;
  graph.input("x", {{1, 1, 1, 4}})
      .initializer(test::float_tensor("none", {0}, {}))
      .initializer(test::float_tensor("s", {4}, {1, 1, 1, 0.5f}))
      .node("Resize", {"x", "none", "s"}, {"y"},
            {Attr("coordinate_transformation_mode", "tf_half_pixel_for_nn"),
             Attr("nearest_mode", "floor")})
      .output("y");
  EXPECT_NE(lifted(graph, 11).find("Resize(x, -, s="), std::string::npos);
  EXPECT_EQ(run(graph, 11, counting({1, 1, 1, 4})), (std::vector<float>{1, 3}));
}

TEST(OnnxLift, BroadcastAlongAnAxis) {
  Graph graph;
  graph.input("x", {{1, 2, 2, 2}})
      .initializer(test::float_tensor("b", {2}, {10, 20}))
      .node("Add", {"x", "b"}, {"y"}, {Attr("broadcast", 1), Attr("axis", 1)})
      .output("y");
  EXPECT_EQ(run(graph, 6, counting({1, 2, 2, 2})),
            (std::vector<float>{10, 11, 12, 13, 24, 25, 26, 27}));

  // After shape inference nothing of the shape arithmetic is left.
  const auto model = test::read(graph, 6);
  ASSERT_TRUE(model);
  ASSERT_TRUE(prepare_model(**model).ok());
  EXPECT_EQ((*model)->nodes().size(), 1u) << print_model(**model);

  Graph suffix;
  suffix.input("x", {{1, 2}})
      .initializer(test::float_tensor("b", {2}, {10, 20}))
      .node("Mul", {"x", "b"}, {"y"}, {Attr("broadcast", 1)})
      .output("y");
  EXPECT_EQ(lifted(suffix, 6), "y = Mul(x, b=[10,20]) : ?\n");
}

TEST(OnnxLift, PReluSlopesBelongToChannels) {
  Graph graph;
  graph.input("x", {{1, 2, 1, 2}})
      .initializer(test::float_tensor("slope", {2}, {0.5f, 2}))
      .node("PRelu", {"x", "slope"}, {"y"})
      .output("y");
  EXPECT_EQ(run(graph, 6, Tensor::from<float>({1, 2, 1, 2}, {-1, 1, -1, 1})),
            (std::vector<float>{-0.5f, 1, -2, 1}));
}

TEST(OnnxLift, BatchNormalization) {
  const std::string one = test::float_tensor("p", {1}, {1});
  Graph graph;
  graph.input("x", {{1, 1, 2}})
      .initializer(one)
      .node("BatchNormalization", {"x", "p", "p", "p", "p"}, {"y", "mean", "var"},
            {Attr("spatial", 1), Attr("epsilon", 0.1f)})
      .output("y");
  EXPECT_EQ(lifted(graph, 8),
            "y = BatchNormalization(x, p=[1], p=[1], p=[1], p=[1]) {epsilon=0.1} : ?\n");

  Graph per_element;
  per_element.input("x", {{1, 1, 2}})
      .initializer(one)
      .node("BatchNormalization", {"x", "p", "p", "p", "p"}, {"y"}, {Attr("spatial", 0)})
      .output("y");
  const auto model = test::read(per_element, 8);
  ASSERT_TRUE(model);
  EXPECT_NE((*model)->find_node("y")->unsupported_reason().find("spatial=0"), std::string::npos);

  Graph training;
  training.input("x", {{1, 1, 2}})
      .initializer(one)
      .node("BatchNormalization", {"x", "p", "p", "p", "p"}, {"y", "mean", "var"})
      .output("y")
      .output("mean");
  const auto trained = test::read(training, 9);
  ASSERT_TRUE(trained) << trained.error().message();
  EXPECT_NE((*trained)->find_node("y")->unsupported_reason().find("training"), std::string::npos);
}

TEST(OnnxLift, GroupNormalizationRepeatsScalesForTheirChannels) {
  Graph graph;
  graph.input("x", {{1, 4, 2}})
      .initializer(test::float_tensor("scale", {2}, {1, 10}))
      .initializer(test::float_tensor("bias", {2}, {0, 100}))
      .node("GroupNormalization", {"x", "scale", "bias"}, {"y"}, {Attr("num_groups", 2)})
      .output("y");
  const auto model = test::read(graph, 18);
  ASSERT_TRUE(model) << model.error().message();
  Node* node = (*model)->find_node("y");
  ASSERT_NE(node->op(), nullptr) << node->unsupported_reason();
  ASSERT_TRUE(prepare_model(**model).ok());
  node = (*model)->find_node("y");
  EXPECT_EQ(*to_float_vector(node->input(1)->constant()), (std::vector<float>{1, 1, 10, 10}));
  EXPECT_EQ(*to_float_vector(node->input(2)->constant()), (std::vector<float>{0, 0, 100, 100}));
}

TEST(OnnxLift, DftAxisBecomesAnInput) {
  Graph graph;
  graph.input("x", {{1, 8, 1}}).node("DFT", {"x"}, {"y"}, {Attr("onesided", 1)}).output("y");
  EXPECT_EQ(lifted(graph, 17), "y = DFT(x, -, y/axis=1) {onesided=1} : ?\n");
}

/// sum' = sum + x, collected.
std::string summing_body() {
  Graph body;
  body.input("sum", {{1}}).input("x", {{1}}).node("Add", {"sum", "x"}, {"next"}).output("next");
  body.node("Identity", {"next"}, {"slice"}).output("slice");
  return body.bytes();
}

TEST(OnnxLift, ScanOfOpset8WorksOnEachElementOfABatch) {
  Graph graph;
  graph.input("lengths", {{2}}, test::kInt64)
      .input("state", {{2, 1}})
      .input("x", {{2, 3, 1}})
      .node("Scan", {"", "state", "x"}, {"a", "b"},
            {Attr("num_scan_inputs", 1), Attr::graph("body", summing_body())})
      .node("Scan", {"lengths", "state", "x"}, {"c", "d"},
            {Attr("num_scan_inputs", 1), Attr("directions", std::vector<int64_t>{1}),
             Attr::graph("body", summing_body())})
      .output("b")
      .output("d");
  const auto model = test::read(graph, 8);
  ASSERT_TRUE(model) << model.error().message();
  const Tensor state = Tensor::from<float>({2, 1}, {0, 100});
  const Tensor x = Tensor::from<float>({2, 3, 1}, {1, 2, 3, 4, 5, 6});
  const Tensor lengths = Tensor::from<int64_t>({2}, {3, 2});
  const auto whole = evaluate_node(*(*model)->find_node("a"), {&state, &x});
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_EQ(*to_float_vector((*whole)[0]), (std::vector<float>{6, 115}));
  EXPECT_EQ((*whole)[1].shape(), (Shape{2, 3, 1}));
  EXPECT_EQ(*to_float_vector((*whole)[1]), (std::vector<float>{1, 3, 6, 104, 109, 115}));
  // Backwards, over the first 3 and 2 elements; the rest is zero.
  const auto part = evaluate_node(*(*model)->find_node("c"), {&state, &x, &lengths});
  ASSERT_TRUE(part) << part.error().message();
  EXPECT_EQ(*to_float_vector((*part)[0]), (std::vector<float>{6, 109}));
  EXPECT_EQ(*to_float_vector((*part)[1]), (std::vector<float>{3, 5, 6, 105, 109, 0}));
}

TEST(OnnxLift, ScanOfOpset8WithoutStatesOrSequencesIsRefused) {
  Graph graph;
  graph.input("x", {{1, 8, 1}}).node("Scan", {"x"}, {"y"}).output("y");
  const auto model = test::read(graph, 8);
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_NE((*model)->find_node("y")->unsupported_reason().find("num_scan_inputs = 0"),
            std::string::npos);
}

}  // namespace
}  // namespace het
