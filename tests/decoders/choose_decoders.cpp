#include "inference/decoders/choose_decoders.h"

#include <gtest/gtest.h>

namespace het {
namespace {

/// A model whose only output is made by `op_type` and then by a Reshape, with ports of this shape.
struct Graph {
  Model model{"graph"};
  std::vector<Port> outputs;

  Graph(const std::string& op_type, const Shape& shape) {
    Value* input = model.add_input("input", {ElementType::Float32, {1, 3, 8, 8}});
    Value* made = model.add_node("last", op_type, "", {input}, {"made"})->output();
    Value* shaped = model.add_node("shape", "Reshape", "", {made}, {"prob"})->output();
    model.add_output("prob", shaped);
    outputs.push_back({"prob", {ElementType::Float32, shape}, std::nullopt});
  }

  Result<DecoderChoice> choose(const ModelProc& model_proc = {},
                               const std::vector<std::string>& labels = {}) const {
    return choose_decoders(model_proc, model, outputs, labels);
  }
};

ModelProc described(std::vector<std::string> converters) {
  ModelProc model_proc;
  for (std::string& converter : converters) {
    model_proc.outputs.emplace_back();
    model_proc.outputs.back().converter = std::move(converter);
  }
  return model_proc;
}

TEST(ChooseDecoders, TheDescriptorComesFirst) {
  const auto choice = Graph("Softmax", {1, 1, 5, 7}).choose(described({"yolo_x", "label"}));
  ASSERT_TRUE(choice) << choice.error().message();
  ASSERT_EQ(choice->configs.size(), 2u);
  EXPECT_EQ(choice->configs[0].converter, "yolo_x");
  EXPECT_EQ(choice->configs[1].converter, "label");
  EXPECT_EQ(choice->reason, "the model-proc file says so");
}

TEST(ChooseDecoders, SeesADetectionOutput) {
  const auto choice = Graph("Concat", {1, 1, 200, 7}).choose();
  ASSERT_TRUE(choice) << choice.error().message();
  EXPECT_EQ(choice->configs.at(0).converter, "detection_output");
  EXPECT_NE(choice->reason.find("'prob'"), std::string::npos);
}

TEST(ChooseDecoders, SeesASoftmaxThroughReshapes) {
  for (const Shape& shape : {Shape{1, 10}, Shape{4, 10, 1, 1}}) {
    const auto choice = Graph("Softmax", shape).choose();
    ASSERT_TRUE(choice) << choice.error().message();
    EXPECT_EQ(choice->configs.at(0).converter, "label");
    EXPECT_EQ(choice->configs.at(0).method, "max");
  }
}

TEST(ChooseDecoders, LabelsTellThatLogitsAreClasses) {
  const auto choice = Graph("Gemm", {1, 2}).choose({}, {"cat", "dog"});
  ASSERT_TRUE(choice) << choice.error().message();
  EXPECT_EQ(choice->configs.at(0).converter, "label");
  EXPECT_EQ(choice->configs.at(0).method, "softmax");
  EXPECT_EQ(choice->configs.at(0).labels.size(), 2u);
}

TEST(ChooseDecoders, AnEntryWithoutConverterKeepsItsOtherKeys) {
  ModelProc model_proc = described({""});
  model_proc.outputs[0].attribute_name = "mood";
  const auto choice = Graph("Softmax", {1, 10}).choose(model_proc);
  ASSERT_TRUE(choice) << choice.error().message();
  EXPECT_EQ(choice->configs.at(0).converter, "label");
  EXPECT_EQ(choice->configs.at(0).attribute_name, "mood");
}

TEST(ChooseDecoders, BoxesAndLabelsByName) {
  Graph graph("TopK", {100, 5});
  graph.outputs[0].name = "boxes";
  graph.outputs.push_back({"labels", {ElementType::Int32, {100}}, std::nullopt});
  const auto choice = graph.choose();
  ASSERT_TRUE(choice) << choice.error().message();
  EXPECT_EQ(choice->configs.at(0).converter, "boxes_labels");
}

TEST(ChooseDecoders, WhatIsNotClearListsTheConverters) {
  for (const Shape& shape : {Shape{1, 256}, Shape{1, 3549, 85}, Shape{1, 4, 32, 32}}) {
    const auto choice = Graph("Gemm", shape).choose();
    ASSERT_FALSE(choice);
    EXPECT_EQ(choice.error().code(), StatusCode::NotSupported);
    for (const std::string& name : converter_names())
      EXPECT_NE(choice.error().message().find(name), std::string::npos) << name;
  }
}

TEST(ChooseDecoders, LabelsReplaceTheDescriptorsButOnlyOfOneConverter) {
  ModelProc single = described({"yolo_x"});
  single.outputs[0].labels = {"old"};
  const auto choice = Graph("Gemm", {1, 2}).choose(single, {"new"});
  ASSERT_TRUE(choice) << choice.error().message();
  EXPECT_EQ(choice->configs[0].labels, (std::vector<std::string>{"new"}));
  const auto two = Graph("Gemm", {1, 2}).choose(described({"label", "label"}), {"new"});
  ASSERT_FALSE(two);
  EXPECT_NE(two.error().message().find("2 converters"), std::string::npos);
}

}  // namespace
}  // namespace het
