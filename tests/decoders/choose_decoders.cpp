#include "inference/decoders/choose_decoders.h"

#include <gtest/gtest.h>

#include "inference/decoders/alternatives.h"

namespace het {
namespace {

/// A model whose only output is made by `op_type` and then by a Reshape, with ports of this shape.
struct Graph {
  Model model{"graph"};
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  ModelMetadata metadata;

  Graph(const std::string& op_type, const Shape& shape, int64_t batch = 1) {
    Value* input = model.add_input("input", {ElementType::Float32, {batch, 3, 64, 64}});
    inputs.push_back({"input", input->desc(), PreprocessDesc{}});
    Value* made = model.add_node("last", op_type, "", {input}, {"made"})->output();
    Value* shaped = model.add_node("shape", "Reshape", "", {made}, {"prob"})->output();
    model.add_output("prob", shaped);
    outputs.push_back({"prob", {ElementType::Float32, shape}, std::nullopt});
  }

  Result<DecoderChoice> choose(const ModelProc& model_proc = {},
                               const std::vector<std::string>& labels = {}) const {
    return choose_decoders(model_proc, metadata, model, inputs, outputs, labels);
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
    const auto choice = Graph("Softmax", shape, shape[0]).choose();
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

TEST(ChooseDecoders, LogitsOfAWellKnownDataSetGetASoftmax) {
  for (const char* maker : {"Gemm", "Add", "Conv", "GlobalAveragePool"}) {
    for (const Shape& shape : {Shape{1, 1000}, Shape{kUnknownDim, 1000}, Shape{8, 1000},
                               Shape{1, 1000, 1, 1}, Shape{1, 1, 1, 1001}, Shape{1000}}) {
      const auto choice = Graph(maker, shape, shape[0] == 8 ? 8 : 1).choose();
      ASSERT_TRUE(choice) << choice.error().message();
      EXPECT_EQ(choice->configs.at(0).converter, "label");
      EXPECT_EQ(choice->configs.at(0).method, "softmax");
      EXPECT_NE(choice->reason.find("without a softmax: one is applied"), std::string::npos)
          << choice->reason;
    }
  }
  // Vectors that may be embeddings or points, maps, and what is no sum.
  EXPECT_FALSE(Graph("Gemm", {1, 512}).choose());
  EXPECT_FALSE(Graph("Gemm", {1, 10}).choose());
  EXPECT_FALSE(Graph("Conv", {1, 1000, 7, 7}).choose());
  EXPECT_FALSE(Graph("Div", {1, 1000}).choose());
  EXPECT_FALSE(Graph("Sigmoid", {1, 1000}).choose());
}

TEST(ChooseDecoders, ClassesByLogSoftmaxAndSigmoid) {
  const auto logarithms = Graph("LogSoftmax", {1, 10}).choose();
  ASSERT_TRUE(logarithms) << logarithms.error().message();
  EXPECT_EQ(logarithms->configs.at(0).method, "softmax");
  // Several may be there at once.
  const auto several = Graph("Sigmoid", {1, 2}).choose({}, {"hat", "glasses"});
  ASSERT_TRUE(several) << several.error().message();
  EXPECT_EQ(several->configs.at(0).converter, "label");
  EXPECT_EQ(several->configs.at(0).method, "multi");
  const auto vector = Graph("Gemm", {2}).choose({}, {"cat", "dog"});
  ASSERT_TRUE(vector) << vector.error().message();
  EXPECT_EQ(vector->configs.at(0).method, "softmax");
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

std::string converter_of(const Result<DecoderChoice>& choice) {
  return choice ? choice->configs.at(0).converter : choice.error().message();
}

TEST(ChooseDecoders, MetadataComeSecond) {
  Graph graph("Softmax", {1, 10});
  graph.metadata = read_model_api_metadata({{"model_type", "yolo_v8"}, {"labels", "a b"}});
  const auto choice = graph.choose();
  EXPECT_EQ(converter_of(choice), "yolo_v8");
  EXPECT_NE(choice->reason.find("model_info"), std::string::npos);
  EXPECT_EQ(choice->configs[0].labels.size(), 2u);
  EXPECT_EQ(converter_of(graph.choose(described({"label"}))), "label");
  // Where they name no converter the graph decides, with what else they say.
  graph.metadata =
      read_model_api_metadata({{"model_type", "ssd"}, {"confidence_threshold", "0.3"}});
  EXPECT_EQ(converter_of(graph.choose()), "label");
  EXPECT_FLOAT_EQ(*graph.choose()->configs[0].threshold, 0.3f);
}

TEST(ChooseDecoders, UltralyticsByTaskAndShape) {
  const auto chosen = [](const Shape& shape, const char* task, const char* end_to_end = "False") {
    Graph graph("Concat", shape);
    graph.metadata = read_ultralytics_metadata(
        {{"names", "{0: 'a', 1: 'b'}"}, {"stride", "32"}, {"task", task}, {"end2end", end_to_end}});
    return converter_of(graph.choose());
  };
  EXPECT_EQ(chosen({1, 6, 84}, "detect"), "yolo_v8");
  EXPECT_EQ(chosen({1, 252, 7}, "detect"), "yolo_v5");
  EXPECT_EQ(chosen({1, 300, 6}, "detect"), "yolo_v26");
  EXPECT_EQ(chosen({1, 7, 84}, "obb"), "yolo_v8_obb");
  EXPECT_EQ(chosen({1, 57, 84}, "pose"), "yolo_v8_pose");
  EXPECT_EQ(chosen({1, 300, 57}, "pose", "True"), "yolo_v26_pose");
  EXPECT_EQ(chosen({1, 2}, "classify"), "label");
}

TEST(ChooseDecoders, YoloByTheNumberOfCells) {
  // 64x64 pixels have 84 cells of strides 8, 16 and 32.
  EXPECT_EQ(converter_of(Graph("Transpose", {1, 84, 7}).choose()), "yolo_x");
  EXPECT_EQ(converter_of(Graph("Exp", {1, 84, 7}).choose()), "yolo_v7");
  EXPECT_EQ(converter_of(Graph("Concat", {1, 252, 7}).choose()), "yolo_v5");
  EXPECT_EQ(converter_of(Graph("Concat", {1, 7, 84}).choose()), "yolo_v8");
  EXPECT_EQ(converter_of(Graph("Concat", {1, 300, 6}).choose()), "yolo_v10");
  Graph masks("Concat", {1, 39, 84});
  masks.outputs.push_back({"protos", {ElementType::Float32, {1, 32, 16, 16}}, std::nullopt});
  EXPECT_EQ(converter_of(masks.choose()), "yolo_v8_seg");
}

TEST(ChooseDecoders, RegionYoloHasTheAnchors) {
  Graph graph("RegionYolo", {1, 14, 2, 2});
  Attributes& attributes = graph.model.nodes()[0]->attributes();
  attributes.set("anchors", std::vector<float>{10, 20, 30, 40, 50, 60, 70, 80});
  attributes.set("mask", std::vector<int64_t>{2, 3});
  attributes.set("classes", int64_t{2});
  attributes.set("do_softmax", int64_t{0});
  const auto choice = graph.choose();
  EXPECT_EQ(converter_of(choice), "yolo_v3");
  EXPECT_EQ(choice->configs[0].masks, (std::vector<int>{2, 3}));
  EXPECT_EQ(choice->configs[0].anchors.size(), 8u);
  EXPECT_EQ(choice->configs[0].classes, 2);
  attributes.set("do_softmax", int64_t{1});
  EXPECT_EQ(converter_of(graph.choose()), "yolo_v2");
}

TEST(ChooseDecoders, SeveralReadingsAreAnErrorThatListsThem) {
  Graph graph("Conv", {1, 100, 4});
  graph.outputs.push_back({"scores", {ElementType::Float32, {1, 100, 91}}, std::nullopt});
  const auto choice = graph.choose();
  ASSERT_FALSE(choice);
  for (const char* name : {"boxes_scores", "rtdetr", "rfdetr"})
    EXPECT_NE(choice.error().message().find(name), std::string::npos) << choice.error().message();
}

TEST(ChooseDecoders, WhatIsNotClearListsWhatFits) {
  const auto told = [](const Shape& shape) {
    const auto choice = Graph("Gemm", shape).choose();
    EXPECT_FALSE(choice);
    EXPECT_EQ(choice.error().code(), StatusCode::NotSupported);
    return choice ? "" : choice.error().message();
  };
  // Special converters before vague ones; none that does not fit.
  const std::string vector = told({1, 256});
  EXPECT_NE(vector.find("{\"converter\": \"label\", \"method\": \"softmax\"}"), std::string::npos)
      << vector;
  EXPECT_NE(vector.find("embedding"), std::string::npos) << vector;
  EXPECT_EQ(vector.find("yolo"), std::string::npos) << vector;
  const std::string rows = told({1, 3549, 85});
  EXPECT_LT(rows.find("yolo_v5"), rows.find("label")) << rows;
  for (const std::string& message : {vector, rows})
    EXPECT_NE(message.find("custom-postproc-lib"), std::string::npos) << message;
}

TEST(ChooseDecoders, WhereNothingFitsTheNearestAreTold) {
  const std::vector<Alternative> none{{"yunet", "{}", false, "yunet wants twelve outputs"},
                                      {"yolo_x", "{}", false, "yolo_x wants one output"}};
  const std::string text = describe(none);
  EXPECT_NE(text.find("nearest are: yunet wants twelve outputs; yolo_x"), std::string::npos);
  EXPECT_NE(text.find("custom-postproc-lib"), std::string::npos);
}

TEST(ChooseDecoders, UltralyticsFormsFollowFromTheShapes) {
  struct Case {
    Shape shape;
    const char* task;
    const char* end_to_end;
    const char* points;
    const char* wanted;
  };
  // 64x64 pixels: 84 cells. Two classes. What the metadata say of suppression may be of another
  // head.
  for (const auto& [shape, task, end_to_end, points, wanted] : {
           Case{{1, 6, 84}, "detect", "True", "", "yolo_v8"},
           Case{{1, 300, 6}, "detect", "True", "", "yolo_v26"},
           Case{{1, 84, 6}, "detect", "False", "", "yolo_v8"},
           Case{{1, 84, 6}, "detect", "True", "", "yolo_v8"},
           Case{{1, kUnknownDim, 6}, "detect", "True", "", "yolo_v26"},
           Case{{1, 6, kUnknownDim}, "detect", "True", "", "yolo_v8"},
           Case{{1, 7, 84}, "obb", "True", "", "yolo_v8_obb"},
           Case{{1, 300, 7}, "obb", "False", "", "yolo_v26_obb"},
           Case{{1, 57, 84}, "pose", "True", "[17, 3]", "yolo_v8_pose"},
           Case{{1, 300, 57}, "pose", "False", "[17, 3]", "yolo_v26_pose"},
           Case{{1, 20, 20}, "detect", "False", "", "no"},
       }) {
    Graph graph("Concat", shape);
    graph.metadata = read_ultralytics_metadata({{"names", "{0: 'a', 1: 'b'}"},
                                                {"stride", "32"},
                                                {"task", task},
                                                {"end2end", end_to_end},
                                                {"kpt_shape", points}});
    const auto choice = graph.choose();
    EXPECT_EQ(choice ? choice->configs.at(0).converter : "no", wanted)
        << to_string(shape) << " " << task;
  }
  // Suppression as its own predictor means it.
  const auto overlap = [](const Shape& shape, const char* head) {
    Graph graph("Concat", shape);
    graph.metadata = read_ultralytics_metadata(
        {{"names", "{0: 'a', 1: 'b'}"}, {"stride", "32"}, {"task", "detect"}, {"head", head}});
    const auto choice = graph.choose();
    EXPECT_TRUE(choice);
    return std::pair(choice->configs.at(0).converter, choice->configs.at(0).iou_threshold);
  };
  EXPECT_EQ(overlap({1, 6, 84}, "Detect"), std::pair(std::string("yolo_v8"), std::optional(0.7f)));
  EXPECT_EQ(overlap({1, 300, 6}, "Detect"),
            std::pair(std::string("yolo_v26"), std::optional<float>()));
  EXPECT_EQ(overlap({1, 300, 6}, "RTDETRDecoder"),
            std::pair(std::string("rtdetr_rows"), std::optional<float>()));
  Graph masks("Concat", {1, 38, 84});
  masks.outputs.push_back({"protos", {ElementType::Float32, {1, 32, 16, 16}}, std::nullopt});
  masks.metadata = read_ultralytics_metadata(
      {{"names", "['a', 'b']"}, {"stride", "32"}, {"task", "segment"}, {"end2end", "True"}});
  EXPECT_EQ(masks.choose()->configs.at(0).converter, "yolo_v8_seg");
  masks.outputs[0].desc.shape = {1, 300, 38};
  EXPECT_EQ(masks.choose()->configs.at(0).converter, "yolo_v26_seg");
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
