#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/readers/openvino_ir/ir_file.h"

/// Recurrent layers, boxes and the operations that stay OpenVINO's own.
namespace het {
namespace {

using test::evaluate_file;
using test::IrFile;
using test::IrPort;
using ::testing::ElementsAre;
using ::testing::FloatNear;

float sigmoid(float x) {
  return 1.0f / (1.0f + std::exp(-x));
}

// One unit: gates f, i, c, o have input weights 1, 2, 3, 4, state weights 0 and biases 0.1 to 0.4.
struct LstmStep {
  float h;
  float c;
};
LstmStep lstm_step(float x, float c) {
  const float f = sigmoid(x + 0.1f);
  const float i = sigmoid(2 * x + 0.2f);
  const float g = std::tanh(3 * x + 0.3f);
  const float o = sigmoid(4 * x + 0.4f);
  const float next = f * c + i * g;
  return {o * std::tanh(next), next};
}

TEST(IrSequences, LstmCellHasItsGatesInOpenVinosOrder) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {1, 1});
  const IrPort cell = file.layer(
      "LSTMCell", "opset4", "hidden_size=\"1\"",
      {x, file.floats({1, 1}, {0}), file.floats({1, 1}, {2}), file.floats({4, 1}, {1, 2, 3, 4}),
       file.floats({4, 1}, {0, 0, 0, 0}), file.floats({4}, {0.1f, 0.2f, 0.3f, 0.4f})},
      {{"FP32", {1, 1}}, {"FP32", {1, 1}}});
  file.result(cell);
  file.result({cell.layer, 1});
  const auto out = evaluate_file(file, {Tensor::from<float>({1, 1}, {0.5f})});
  ASSERT_EQ(out.size(), 2u);
  const LstmStep wanted = lstm_step(0.5f, 2);
  EXPECT_THAT(*to_float_vector(out[0]), ElementsAre(FloatNear(wanted.h, 1e-6f)));
  EXPECT_THAT(*to_float_vector(out[1]), ElementsAre(FloatNear(wanted.c, 1e-6f)));
}

TEST(IrSequences, LstmSequenceHasTheBatchFirst) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {2, 2, 1});
  const IrPort layer = file.layer(
      "LSTMSequence", "opset5", "hidden_size=\"1\" direction=\"forward\"",
      {x, file.floats({2, 1, 1}, {0, 0}), file.floats({2, 1, 1}, {0, 2}), file.integers({2, 1}),
       file.floats({1, 4, 1}, {1, 2, 3, 4}), file.floats({1, 4, 1}, {0, 0, 0, 0}),
       file.floats({1, 4}, {0.1f, 0.2f, 0.3f, 0.4f})},
      {{"FP32", {2, 1, 2, 1}}, {"FP32", {2, 1, 1}}, {"FP32", {2, 1, 1}}});
  for (size_t i = 0; i < 3; ++i) file.result({layer.layer, i});
  const auto out = evaluate_file(file, {Tensor::from<float>({2, 2, 1}, {0.5f, -1, 0.25f, 3})});
  ASSERT_EQ(out.size(), 3u);
  const LstmStep a = lstm_step(0.5f, 0);
  const LstmStep b = lstm_step(-1, a.c);
  const LstmStep c = lstm_step(0.25f, 2);  // the second sequence is one step long
  EXPECT_EQ(out[0].shape(), (Shape{2, 1, 2, 1}));
  EXPECT_THAT(*to_float_vector(out[0]),
              ElementsAre(FloatNear(a.h, 1e-6f), FloatNear(b.h, 1e-6f), FloatNear(c.h, 1e-6f), 0));
  EXPECT_THAT(*to_float_vector(out[1]), ElementsAre(FloatNear(b.h, 1e-6f), FloatNear(c.h, 1e-6f)));
  EXPECT_THAT(*to_float_vector(out[2]), ElementsAre(FloatNear(b.c, 1e-6f), FloatNear(c.c, 1e-6f)));
}

TEST(IrSequences, GruKeepsTheHiddenGatesBiasesApart) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {1, 1});
  // Gates z, r, h: weights 1, 2, 3, state weights 0, 0, 1; biases 0.1, 0.2, of h 0.3 and 0.4.
  const IrPort cell =
      file.layer("GRUCell", "opset3", "hidden_size=\"1\" linear_before_reset=\"true\"",
                 {x, file.floats({1, 1}, {2}), file.floats({3, 1}, {1, 2, 3}),
                  file.floats({3, 1}, {0, 0, 1}), file.floats({4}, {0.1f, 0.2f, 0.3f, 0.4f})},
                 {{"FP32", {1, 1}}});
  file.result(cell);
  const auto out = evaluate_file(file, {Tensor::from<float>({1, 1}, {0.5f})});
  ASSERT_EQ(out.size(), 1u);
  const float z = sigmoid(0.6f);
  const float r = sigmoid(1.2f);
  const float h = std::tanh(1.5f + 0.3f + r * (2 + 0.4f));
  EXPECT_THAT(*to_float_vector(out[0]), ElementsAre(FloatNear((1 - z) * h + z * 2, 1e-6f)));
}

TEST(IrSequences, RnnInBothDirections) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {1, 2, 1});
  const IrPort layer = file.layer(
      "RNNSequence", "opset5", "hidden_size=\"1\" direction=\"bidirectional\" activations=\"relu\"",
      {x, file.floats({1, 2, 1}, {0, 0}), file.integers({2}), file.floats({2, 1, 1}, {1, 10}),
       file.floats({2, 1, 1}, {1, 1}), file.floats({2, 1}, {0, 0})},
      {{"FP32", {1, 2, 2, 1}}, {"FP32", {1, 2, 1}}});
  file.result(layer);
  file.result({layer.layer, 1});
  const auto out = evaluate_file(file, {Tensor::from<float>({1, 2, 1}, {1, 2})});
  ASSERT_EQ(out.size(), 2u);
  // Forward 1, 1 + 2; backward 20 + 10, 20.
  EXPECT_THAT(*to_float_vector(out[0]), ElementsAre(1, 3, 30, 20));
  EXPECT_THAT(*to_float_vector(out[1]), ElementsAre(3, 30));
}

/// Two equal boxes and one apart, two classes. Of class 1 the second box is best.
IrFile boxes(const std::string& opset, const std::string& data, bool three_outputs) {
  IrFile file;
  const IrPort rois = file.parameter("boxes", "f32", {1, 3, 4});
  const IrPort scores = file.floats({1, 2, 3}, {0.5f, 0.25f, 0.1f, 0.3f, 0.9f, 0.6f});
  std::vector<test::IrType> outputs{{"I64", {three_outputs ? -1 : 6, 3}}};
  if (three_outputs) {
    outputs.push_back({"FP32", {-1, 3}});
    outputs.push_back({"I64", {1}});
  }
  const IrPort nms = file.layer(
      "NonMaxSuppression", opset, data,
      {rois, scores, file.integer(2), file.floats({}, {0.5f}), file.floats({}, {0.2f})}, outputs);
  for (size_t i = 0; i < outputs.size(); ++i) file.result({nms.layer, i});
  return file;
}
const Tensor& three_boxes() {
  static const Tensor kBoxes = Tensor::from<float>({1, 3, 4}, {0, 0, 1, 1, 0, 0, 1, 1, 5, 5, 6, 6});
  return kBoxes;
}

TEST(IrSequences, NonMaxSuppressionSortsOverAllClasses) {
  const auto out = evaluate_file(
      boxes("opset9", "box_encoding=\"corner\" sort_result_descending=\"true\" output_type=\"i32\"",
            true),
      {three_boxes()});
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].type(), ElementType::Int32);
  EXPECT_THAT(*to_float_vector(out[0]), ElementsAre(0, 1, 1, 0, 1, 2, 0, 0, 0));
  EXPECT_THAT(*to_float_vector(out[1]), ElementsAre(0, 1, 0.9f, 0, 1, 0.6f, 0, 0, 0.5f));
  EXPECT_THAT(*to_float_vector(out[2]), ElementsAre(3));
}

TEST(IrSequences, NonMaxSuppressionOfOpset1HasARowPerBox) {
  const auto out = evaluate_file(
      boxes("opset1", "box_encoding=\"corner\" sort_result_descending=\"false\"", false),
      {three_boxes()});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_THAT(*to_float_vector(out[0]), ElementsAre(0, 0, 0, 0, 1, 1, 0, 1, 2));
}

TEST(IrSequences, OwnOperationsKeepTheirAttributes) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {1, 8});
  const IrPort c = file.parameter("c", "f32", {1, 4});
  const IrPort p = file.parameter("p", "f32", {1, 2, 8});
  file.result(file.layer("DetectionOutput", "opset8",
                         "background_label_id=\"0\" share_location=\"True\" keep_top_k=\"200\" "
                         "code_type=\"caffe.PriorBoxParameter.CENTER_SIZE\" nms_threshold=\"0.5\" "
                         "clip_after_nms=\"false\"",
                         {x, c, p}, {{"FP32", {1, 1, 200, 7}}}, "boxes"));
  const auto model = file.read();
  ASSERT_TRUE(model) << model.error().message();
  const Node* node = (*model)->find_node("boxes");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->qualified_type(), "het.DetectionOutput");
  EXPECT_EQ(node->inputs().size(), 3u);
  const Attributes& attributes = node->attributes();
  EXPECT_EQ(attributes.get_int("share_location", -1), 1);
  EXPECT_EQ(attributes.get_int("clip_after_nms", -1), 0);
  EXPECT_THAT(attributes.get_ints("keep_top_k"), ElementsAre(200));
  EXPECT_EQ(attributes.get_float("nms_threshold", 0), 0.5f);
  EXPECT_EQ(attributes.get_string("code_type", ""), "caffe.PriorBoxParameter.CENTER_SIZE");
  // What the file leaves out is left to the operator.
  EXPECT_FALSE(attributes.has("top_k"));
}

TEST(IrSequences, StateKeepsItsVariable) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {1, 2});
  const IrPort read = file.layer(
      "ReadValue", "opset6", "variable_id=\"memory\" variable_type=\"f32\" variable_shape=\"?,2\"",
      {file.floats({1, 2}, {0, 0})}, {{"FP32", {1, 2}}}, "read");
  const IrPort sum = file.layer("Add", "opset1", "", {x, read}, {{"FP32", {1, 2}}}, "sum");
  file.layer("Assign", "opset6", "variable_id=\"memory\"", {sum}, {}, "save");
  file.result(sum);
  const auto model = file.read();
  ASSERT_TRUE(model) << model.error().message();
  const Attributes& attributes = (*model)->find_node("read")->attributes();
  EXPECT_EQ(attributes.get_string("variable_id", ""), "memory");
  EXPECT_EQ(attributes.get_string("variable_type", ""), "float32");
  EXPECT_THAT(attributes.get_ints("variable_shape"), ElementsAre(kUnknownDim, 2));
  const Node* save = (*model)->find_node("save");
  ASSERT_NE(save, nullptr);
  EXPECT_EQ(save->qualified_type(), "het.Assign");
  EXPECT_EQ(save->input(0), (*model)->find_node("sum")->output());
}

}  // namespace
}  // namespace het
