#include <gtest/gtest.h>

#include "inference/decoders/choose_decoders.h"
#include "inference/decoders/picture_assumption.h"

namespace het {
namespace {

/// A model of one picture and maps, each made by a chain of operators on the picture.
struct Maps {
  Model model{"net"};
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  Value* picture;

  explicit Maps(const Shape& shape = {1, 3, 64, 96}) {
    picture = model.add_input("input", {ElementType::Float32, shape});
    inputs.push_back({"input", picture->desc(), PreprocessDesc{}});
    if (shape[1] != 3) inputs.back().preprocess->tensor_layout = Layout::NHWC;
  }
  /// An operator; a ConvTranspose doubles.
  Value* node(const std::string& type, Value* from) {
    const std::string name = type + std::to_string(model.nodes().size());
    std::vector<Value*> operands{from};
    const bool doubles = type == "ConvTranspose";
    if (doubles)
      operands.push_back(model.add_constant(
          name + "w", Tensor::from<float>({1, 1, 2, 2}, std::vector<float>(4, 0.5f))));
    Node* made = model.add_node(name, type, "", operands, {name});
    if (doubles) made->attributes().set("strides", std::vector<int64_t>{2, 2});
    return made->output();
  }
  Maps& add(const std::string& name, const Shape& shape, const std::vector<std::string>& types,
            ElementType type = ElementType::Float32) {
    Value* value = picture;
    for (const std::string& operation : types) value = node(operation, value);
    model.set_desc(value, {type, shape});
    model.add_output(name, value);
    outputs.push_back({name, {type, shape}, std::nullopt});
    return *this;
  }
  DecoderConfig chosen() const {
    const auto choice = choose_decoders({}, {}, model, inputs, outputs, {});
    return choice ? choice->configs.at(0) : DecoderConfig{};
  }
  std::string converter() const { return chosen().converter; }
};

TEST(MapReadings, OneValueForEachPixelByItsEnd) {
  const Shape whole{1, 1, 64, 96};
  EXPECT_EQ(Maps().add("out", whole, {"Conv", "Sigmoid"}).converter(), "semantic_segmentation");
  EXPECT_EQ(Maps().add("out", whole, {"Conv", "Relu"}).converter(), "depth_estimation");
  EXPECT_EQ(Maps().add("out", {1, 64, 96}, {"Conv", "Relu", "Squeeze"}).converter(),
            "depth_estimation");
  EXPECT_EQ(Maps().add("out", whole, {"Conv"}).converter(), "");
  EXPECT_EQ(Maps()
                .add("out", whole,
                     {"ConvTranspose", "BatchNormalization", "Relu", "ConvTranspose", "Sigmoid"})
                .converter(),
            "text_detection_db");
  EXPECT_EQ(Maps().add("out", whole, {"Conv", "ConvTranspose", "Sigmoid"}).converter(),
            "semantic_segmentation");
  EXPECT_EQ(Maps({1, 64, 96, 3}).add("out", {1, 64, 96, 1}, {"Conv", "Sigmoid"}).chosen().layout,
            "NHWC");
}

TEST(MapReadings, MapsBesideTheMainOneAreOfTraining) {
  const Shape classes{1, 21, 64, 96};
  const DecoderConfig torchvision =
      Maps().add("aux", classes, {"Resize"}).add("out", classes, {"Resize"}).chosen();
  EXPECT_EQ(torchvision.converter, "semantic_segmentation");
  EXPECT_EQ(torchvision.layer_names, (std::vector<std::string>{"out"}));
  Maps salient;
  for (const char* name : {"d0", "d1", "d2"})
    salient.add(name, {1, 1, 64, 96}, {"Conv", "Sigmoid"});
  EXPECT_EQ(salient.chosen().layer_names, (std::vector<std::string>{"d0"}));
  EXPECT_EQ(salient.add("other", {1, 1, 32, 48}, {"Conv", "Sigmoid"}).converter(), "");
}

TEST(MapReadings, ClassesOnASmallerMap) {
  EXPECT_EQ(Maps().add("out", {1, 150, 16, 24}, {"Conv"}).converter(), "semantic_segmentation");
  EXPECT_EQ(Maps().add("out", {1, 33, 16, 24}, {"Conv"}).converter(), "");
}

TEST(MapReadings, MaskFormersPairAndAnomalib) {
  const DecoderConfig pair = Maps()
                                 .add("class_queries_logits", {1, 10, 8}, {"Add"})
                                 .add("masks_queries_logits", {1, 10, 16, 24}, {"Einsum"})
                                 .chosen();
  EXPECT_EQ(pair.converter, "maskformer");
  EXPECT_EQ(Maps().add("a", {1, 10, 8}, {"Add"}).add("b", {1, 11, 16, 24}, {"Einsum"}).converter(),
            "");
  const DecoderConfig score = Maps()
                                  .add("pred_score", {1}, {"Div"})
                                  .add("pred_label", {1}, {"Greater"}, ElementType::Bool)
                                  .chosen();
  EXPECT_EQ(score.converter, "AnomalyDetection");
  EXPECT_EQ(score.layer_names, (std::vector<std::string>{"pred_score"}));
}

TEST(MapReadings, HeatMapsOfUprightPictures) {
  EXPECT_EQ(Maps({1, 3, 256, 192}).add("out", {1, 17, 64, 48}, {"Conv"}).converter(),
            "keypoints_hrnet");
  EXPECT_EQ(Maps({1, 3, 256, 256}).add("out", {1, 17, 64, 64}, {"Conv"}).converter(), "");
  EXPECT_EQ(Maps({1, 3, 256, 192}).add("out", {1, 19, 32, 24}, {"Conv"}).converter(), "");
  EXPECT_EQ(Maps({1, 3, 640, 480}).add("out", {1, 19, 160, 120}, {"Conv"}).converter(), "");
  EXPECT_EQ(Maps({1, 3, 256, 192}).add("out", {1, 19, 256, 192}, {"Conv"}).converter(),
            "semantic_segmentation");
}

TEST(MapReadings, LargerPicturesWhereTheirRangeIsTold) {
  const Shape larger{1, 3, 128, 192};
  EXPECT_EQ(Maps().add("out", larger, {"Conv", "Sigmoid"}).converter(), "picture");
  EXPECT_EQ(Maps().add("out", larger, {"Conv"}).converter(), "");
  EXPECT_EQ(Maps().add("out", {1, 3, 128, 96}, {"Conv", "Sigmoid"}).converter(), "");
}

TEST(QueryReadings, BoxesByASigmoidAreOfADetr) {
  const auto chosen = [](int64_t queries, const char* boxes, const char* scores) {
    return Maps({1, 3, 640, 640})
        .add("a", {1, queries, 92}, {scores})
        .add("b", {1, queries, 4}, {boxes})
        .chosen();
  };
  EXPECT_EQ(chosen(100, "Sigmoid", "Add").converter, "rfdetr");
  EXPECT_TRUE(chosen(100, "Sigmoid", "Add").class_softmax);
  EXPECT_FALSE(chosen(300, "Sigmoid", "Add").class_softmax);
  EXPECT_EQ(chosen(300, "Concat", "Add").converter, "");
  const DecoderConfig cells = chosen(8400, "Concat", "Sigmoid");
  EXPECT_EQ(cells.converter, "boxes_scores");
  EXPECT_EQ(cells.unit, "pixels");
  EXPECT_EQ(chosen(300, "Sigmoid", "Softmax").converter, "");
}

TEST(CellReadings, ScoresAtTheEndOfARowAreNoDistances) {
  EXPECT_EQ(Maps({1, 3, 416, 416}).add("out", {1, 3598, 85}, {"Concat"}).converter(),
            "nanodet_plus");
  EXPECT_NE(Maps({1, 3, 416, 416}).add("out", {1, 3598, 85}, {"Sigmoid"}).converter(),
            "nanodet_plus");
}

TEST(LineReadings, BySizesAndNames) {
  EXPECT_EQ(Maps({1, 3, 288, 800}).add("out", {1, 101, 56, 4}, {"Reshape"}).converter(),
            "lane_rows");
  EXPECT_EQ(Maps({1, 3, 360, 640})
                .add("pred_logits", {1, 7, 2}, {"Add"})
                .add("pred_curves", {1, 7, 8}, {"Concat"})
                .add("foo_out_1", {1, 2}, {"Identity"})
                .converter(),
            "lane_curves");
  EXPECT_EQ(Maps({1, 512, 512, 3})
                .add("a", {1, 200, 2}, {"Reshape"})
                .add("b", {1, 200}, {"Reshape"})
                .add("c", {1, 256, 256, 4}, {"Transpose"})
                .converter(),
            "line_segments");
}

TEST(MapReadings, WhatIsLikelyComesFirst) {
  Maps text({1, 3, 32, 320});
  text.add("out", {1, 40, 97}, {"Softmax"});
  const auto choice = choose_decoders({}, {}, text.model, text.inputs, text.outputs, {});
  ASSERT_FALSE(choice);
  const std::string& message = choice.error().message();
  EXPECT_NE(message.find("read by {\"converter\": \"paddle_ocr_ctc\"}"), std::string::npos)
      << message;
}

TEST(MapReadings, TextsFixTheirPicturesMattingsDoNot) {
  const auto is_guess = [](const DecoderConfig& config, const Maps& maps) {
    return assume_pictures(config, maps.model, *maps.picture).is_guess;
  };
  const Maps maps;
  DecoderConfig config;
  config.converter = "text_detection_db";
  EXPECT_FALSE(is_guess(config, maps));
  config.converter = "semantic_segmentation";
  config.layout = "NCHW";
  EXPECT_FALSE(is_guess(config, maps));
  config.classes = 1;
  EXPECT_TRUE(is_guess(config, maps));
}

}  // namespace
}  // namespace het
