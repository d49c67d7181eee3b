#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/readers/openvino_ir/ir_file.h"

/// TensorIterator, Loop and If of IR.
namespace het {
namespace {

using test::evaluate_file;
using test::IrFile;
using test::IrPort;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string id(IrPort port) {
  return std::to_string(port.layer);
}

/// A running sum of the slices of x along dimension 1: the sums and the last of them.
IrFile running_sum(const std::string& slicing) {
  IrFile inner;
  const IrPort slice = inner.parameter("slice", "f32", {1, 1});
  const IrPort sum = inner.parameter("sum", "f32", {1, 1});
  const IrPort next = inner.layer("Add", "opset1", "", {slice, sum}, {{"FP32", {1, 1}}});
  inner.result(next);
  const std::string result = std::to_string(next.layer + 1);
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {1, 3});
  const std::string children =
      "<port_map><input external_port_id=\"0\" internal_layer_id=\"" + id(slice) +
      "\" axis=\"1\" " + slicing + "/><input external_port_id=\"1\" internal_layer_id=\"" +
      id(sum) + "\"/><output external_port_id=\"2\" internal_layer_id=\"" + result +
      "\" axis=\"1\" " + slicing + "/><output external_port_id=\"3\" internal_layer_id=\"" +
      result + "\"/></port_map><back_edges><edge from-layer=\"" + result + "\" to-layer=\"" +
      id(sum) + "\"/></back_edges>" + inner.body("body");
  const IrPort iterator = file.layer("TensorIterator", "opset1", "", {x, file.floats({1, 1}, {10})},
                                     {{"FP32", {1, 3}}, {"FP32", {1, 1}}}, "iterator", children);
  file.result(iterator);
  file.result({iterator.layer, 1});
  return file;
}

TEST(IrControl, TensorIteratorTakesSlicesAndKeepsState) {
  const Tensor x = Tensor::from<float>({1, 3}, {1, 2, 4});
  const auto out =
      evaluate_file(running_sum("start=\"0\" end=\"-1\" stride=\"1\" part_size=\"1\""), {x});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].shape(), (Shape{1, 3}));
  EXPECT_THAT(*to_float_vector(out[0]), ElementsAre(11, 13, 17));
  EXPECT_THAT(*to_float_vector(out[1]), ElementsAre(17));
}

TEST(IrControl, TensorIteratorRunsBackwards) {
  const Tensor x = Tensor::from<float>({1, 3}, {1, 2, 4});
  const auto out =
      evaluate_file(running_sum("start=\"-1\" end=\"0\" stride=\"-1\" part_size=\"1\""), {x});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_THAT(*to_float_vector(out[0]), ElementsAre(17, 16, 14));
  EXPECT_THAT(*to_float_vector(out[1]), ElementsAre(17));
}

TEST(IrControl, OtherSlicesAreRefused) {
  const auto model = running_sum("start=\"0\" end=\"-1\" stride=\"2\" part_size=\"2\"").read();
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_THAT((*model)->find_node("iterator")->unsupported_reason(), HasSubstr("slices of 2"));
}

TEST(IrControl, LoopEndsByItsConditionAndCountsIterations) {
  // sum += iteration while sum < limit, at most five times: 0, 1, 3.
  IrFile inner;
  const IrPort iteration = inner.parameter("i", "i64", {1});
  const IrPort sum = inner.parameter("sum", "i64", {1});
  const IrPort limit = inner.parameter("limit", "i64", {1});
  const IrPort next = inner.layer("Add", "opset1", "", {sum, iteration}, {{"I64", {1}}});
  const IrPort again = inner.layer("Less", "opset1", "", {next, limit}, {{"BOOL", {1}}});
  inner.result(next);
  inner.result(again);
  const std::string sum_result = std::to_string(again.layer + 1);
  const std::string again_result = std::to_string(again.layer + 2);
  IrFile file;
  const IrPort start = file.parameter("start", "i64", {1});
  const std::string children =
      "<port_map><input external_port_id=\"-1\" internal_layer_id=\"" + id(iteration) +
      "\" purpose=\"current_iteration\"/><input external_port_id=\"2\" internal_layer_id=\"" +
      id(sum) + "\"/><input external_port_id=\"3\" internal_layer_id=\"" + id(limit) +
      "\"/><output external_port_id=\"-1\" internal_layer_id=\"" + again_result +
      "\" purpose=\"execution_condition\"/><output external_port_id=\"4\" internal_layer_id=\"" +
      sum_result + "\"/></port_map><back_edges><edge from-layer=\"" + sum_result +
      "\" to-layer=\"" + id(sum) + "\"/></back_edges>" + inner.body("body");
  file.result(file.layer(
      "Loop", "opset5", "",
      {file.integer(5), file.constant<uint8_t>("boolean", {}, {1}), start, file.integers({2})},
      {{"I64", {1}}}, "loop", children));
  const auto out = evaluate_file(file, {Tensor::from<int64_t>({1}, {0})});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_THAT(*to_float_vector(out[0]), ElementsAre(3));
}

/// x + x when the condition is true, x * x otherwise.
IrFile choice() {
  const auto branch = [](const std::string& type, const std::string& tag) {
    IrFile inner;
    const IrPort x = inner.parameter("x", "f32", {2});
    inner.result(inner.layer(type, "opset1", "", {x, x}, {{"FP32", {2}}}));
    return inner.body(tag);
  };
  const std::string map =
      "<input external_port_id=\"1\" internal_layer_id=\"0\"/><output external_port_id=\"2\" "
      "internal_layer_id=\"2\"/>";
  IrFile file;
  const IrPort condition = file.parameter("condition", "boolean", {});
  const IrPort x = file.parameter("x", "f32", {2});
  file.result(file.layer("If", "opset8", "", {condition, x}, {{"FP32", {2}}}, "choice",
                         "<then_port_map>" + map + "</then_port_map><else_port_map>" + map +
                             "</else_port_map>" + branch("Add", "then_body") +
                             branch("Multiply", "else_body")));
  return file;
}

TEST(IrControl, IfTakesOneBranch) {
  const Tensor x = Tensor::from<float>({2}, {3, 5});
  for (const bool condition : {true, false}) {
    const auto out = evaluate_file(choice(), {Tensor::scalar(condition), x});
    ASSERT_EQ(out.size(), 1u);
    EXPECT_THAT(*to_float_vector(out[0]), condition ? ElementsAre(6, 10) : ElementsAre(9, 25));
  }
}

TEST(IrControl, AScalarForAnEmptyVectorIsEmpty) {
  // As OpenVINO converts torchvision's suppression: no boxes, no indices.
  IrFile none;
  none.result(none.integer(0));
  IrFile some;
  some.result(some.parameter("x", "i64", {2}));
  const std::string result =
      "<output external_port_id=\"2\" internal_layer_id=\"1\"/></then_port_map>";
  IrFile file;
  file.integer(0);  // at the offset of the body's constant
  const IrPort condition = file.parameter("condition", "boolean", {});
  const IrPort x = file.parameter("x", "i64", {2});
  file.result(file.layer("If", "opset8", "", {condition, x}, {{"I64", {-1}}}, "keep",
                         "<then_port_map>" + result +
                             "<else_port_map><input external_port_id=\"1\" "
                             "internal_layer_id=\"0\"/><output external_port_id=\"2\" "
                             "internal_layer_id=\"1\"/></else_port_map>" +
                             none.body("then_body") + some.body("else_body")));
  const Tensor indices = Tensor::from<int64_t>({2}, {4, 7});
  EXPECT_EQ(evaluate_file(file, {Tensor::scalar(true), indices})[0].desc().shape, (Shape{0}));
  EXPECT_EQ(evaluate_file(file, {Tensor::scalar(false), indices})[0].desc().shape, (Shape{2}));
}

TEST(IrControl, DamagedPortMapsAreErrors) {
  const std::string xml = choice().xml();
  for (const auto& [from, to, part] :
       {std::tuple("internal_layer_id=\"0\"", "internal_layer_id=\"9\"", "no Parameter with id 9"),
        std::tuple("internal_layer_id=\"2\"", "internal_layer_id=\"1\"", "no Result with id 1"),
        std::tuple("external_port_id=\"1\"", "external_port_id=\"7\"", "input 7, which nothing"),
        std::tuple("<input external_port_id=\"1\" internal_layer_id=\"0\"/>", "",
                   "fed by no port of its port map"),
        std::tuple("<then_body>", "<other>", "malformed")}) {
    std::string damaged = xml;
    damaged.replace(damaged.find(from), std::string(from).size(), to);
    const auto model = IrFile::read_xml(damaged);
    ASSERT_FALSE(model) << part;
    EXPECT_THAT(model.error().message(), HasSubstr(part));
  }
}

}  // namespace
}  // namespace het
