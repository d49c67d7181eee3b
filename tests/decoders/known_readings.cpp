#include <gtest/gtest.h>

#include "inference/decoders/choose_decoders.h"
#include "inference/decoders/descriptors/known_models.h"
#include "inference/decoders/picture_assumption.h"

namespace het {
namespace {

/// A model of one picture whose outputs have names and shapes, each made by one operator.
struct NamedOutputs {
  Model model{"net"};
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  Value* picture;

  explicit NamedOutputs(const Shape& shape = {1, 3, 62, 62}) {
    picture = model.add_input("input", {ElementType::Float32, shape});
    inputs.push_back({"input", picture->desc(), PreprocessDesc{}});
  }
  void add(const std::string& name, const Shape& shape, const std::string& op_type = "Conv") {
    Value* made = model.add_node(name, op_type, "", {picture}, {name})->output();
    model.add_output(name, made);
    outputs.push_back({name, {ElementType::Float32, shape}, std::nullopt});
  }
  Result<DecoderChoice> choose(const std::vector<std::string>& labels = {},
                               const ModelMetadata& metadata = {}) const {
    return choose_decoders({}, metadata, model, inputs, outputs, labels);
  }
};

TEST(KnownModels, TheListIsRead) {
  EXPECT_GE(known_models().readings.size(), 14u);
  EXPECT_EQ(known_models().labels.at("face-detection-retail-0004"),
            (std::vector<std::string>{"background", "face"}));
  for (const KnownReading& known : known_models().readings) {
    EXPECT_FALSE(known.outputs.empty()) << known.source;
    for (const DecoderConfig& config : known.configs)
      EXPECT_FALSE(config.converter.empty()) << known.source;
  }
}

TEST(KnownModels, EveryOneIsRecognisedByItsNamesAndCanBeDecoded) {
  for (const KnownReading& known : known_models().readings) {
    const bool sized = !known.picture.empty();
    NamedOutputs graph({1, 3, sized ? known.picture[1] : 62, sized ? known.picture[0] : 62});
    for (const auto& [name, wanted] : known.outputs) {
      Shape shape = wanted.size() == 1 ? Shape{1, wanted[0], 1, 1} : wanted;
      for (int64_t& dim : shape) dim = dim == kUnknownDim ? 8 : dim;
      if (wanted.size() > 1 && wanted[0] == kUnknownDim) shape[0] = 1;
      graph.add(name, shape);
    }
    const auto choice = graph.choose();
    ASSERT_TRUE(choice) << known.source << ": " << choice.error().message();
    EXPECT_NE(choice->plain_pictures, choice->pictures.has_value());
    EXPECT_NE(choice->reason.find(known.source), std::string::npos) << choice->reason;
    ASSERT_EQ(choice->configs.size(), known.configs.size());
    for (const DecoderConfig& config : choice->configs) {
      const auto decoder = create_decoder(config, graph.inputs, graph.outputs);
      EXPECT_TRUE(decoder) << known.source << ": " << decoder.error().message();
    }
  }
}

TEST(KnownModels, OtherShapesOrFurtherOutputsAreNotThem) {
  NamedOutputs more;
  more.add("color", {1, 7});
  more.add("type", {1, 4});
  ASSERT_TRUE(more.choose());
  more.add("wheels", {1, 2});
  EXPECT_FALSE(more.choose());
  NamedOutputs other;
  other.add("color", {1, 9});
  other.add("type", {1, 4});
  EXPECT_FALSE(other.choose());
}

TEST(KnownModels, LabelsForSeveralReadersAreAnError) {
  NamedOutputs graph;
  graph.add("color", {1, 7});
  graph.add("type", {1, 4});
  const auto choice = graph.choose({"a", "b", "c", "d"});
  ASSERT_FALSE(choice);
  EXPECT_NE(choice.error().message().find("read by 2 converters"), std::string::npos);
}

TEST(KnownModels, NamesOfFilesGiveLabels) {
  NamedOutputs graph;
  graph.add("detection_out", {1, 1, 200, 7}, "DetectionOutput");
  ModelMetadata file;
  file.file_stem = "person-vehicle-bike-detection-2000";
  const auto choice = graph.choose({}, file);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->configs.at(0).labels, (std::vector<std::string>{"vehicle", "person", "bike"}));
  const auto own = graph.choose({"a", "b", "c"}, file);
  ASSERT_TRUE(own);
  EXPECT_EQ(own->configs.at(0).labels.at(0), "a");
}

TEST(Readings, ExplanationsAreLeftOut) {
  NamedOutputs graph({1, 3, 224, 224});
  graph.add("logits", {1, 3}, "Gemm");
  graph.add("saliency_map", {1, 3, 7, 7});
  graph.add("feature_vector", {1, 1280, 1, 1});
  ModelMetadata metadata;
  metadata.source = "rt_info";
  metadata.output.converter = "label";
  metadata.output.labels = {"a", "b", "c"};
  const auto described = graph.choose({}, metadata);
  ASSERT_TRUE(described) << described.error().message();
  EXPECT_TRUE(create_decoder(described->configs.at(0), graph.inputs, graph.outputs));
  EXPECT_EQ(described->configs.at(0).layer_names, (std::vector<std::string>{"logits"}));
  const auto seen = graph.choose({"a", "b", "c"});
  ASSERT_TRUE(seen) << seen.error().message();
  EXPECT_EQ(seen->configs.at(0).converter, "label");

  NamedOutputs objects({1, 3, 224, 224});
  objects.add("boxes", {1, 100, 5});
  objects.add("labels", {1, 100});
  objects.add("saliency_map", {1, 3, 7, 7});
  objects.add("feature_vector", {1, 1280, 1, 1});
  const auto boxes = objects.choose();
  ASSERT_TRUE(boxes) << boxes.error().message();
  EXPECT_EQ(boxes->configs.at(0).converter, "boxes_labels");
}

TEST(Readings, StepsBeforeTheBatchAreNoClasses) {
  NamedOutputs graph({1, 1, 32, 96});
  graph.add("probs", {20, 1, 37}, "Softmax");
  EXPECT_FALSE(graph.choose());
  std::vector<std::string> letters;
  for (char c = '0'; c <= '9'; ++c) letters.emplace_back(1, c);
  for (char c = 'a'; c <= 'z'; ++c) letters.emplace_back(1, c);
  const auto choice = graph.choose(letters);
  ASSERT_TRUE(choice) << choice.error().message();
  EXPECT_EQ(choice->configs.at(0).converter, "paddle_ocr_ctc");
}

TEST(Readings, EmbeddingsByTheirEndAndByTheSizeOfThePicture) {
  const auto chosen = [](const Shape& picture, int64_t values, const std::string& maker) {
    NamedOutputs graph(picture);
    graph.add("out", {1, values}, maker);
    const auto choice = graph.choose();
    return choice ? choice->configs.at(0).converter : std::string();
  };
  EXPECT_EQ(chosen({1, 3, 112, 112}, 512, "Gemm"), "embedding");
  EXPECT_EQ(chosen({1, 3, 256, 128}, 512, "Gemm"), "embedding");
  EXPECT_EQ(chosen({1, 3, 96, 96}, 512, "BatchNormalization"), "embedding");
  EXPECT_EQ(chosen({1, 3, 112, 112}, 512, "Softmax"), "label");
  EXPECT_EQ(chosen({1, 3, 112, 112}, 8, "Gemm"), "");    // emotions, perhaps
  EXPECT_EQ(chosen({1, 3, 224, 224}, 512, "Gemm"), "");  // anything
}

TEST(Readings, ObjectsThatWereSuppressedInTheGraph) {
  NamedOutputs tensorflow({1, 300, 300, 3});
  tensorflow.add("detection_boxes", {1, 100, 4});
  tensorflow.add("detection_classes", {1, 100});
  tensorflow.add("detection_scores", {1, 100});
  tensorflow.add("num_detections", {1});
  const auto read = tensorflow.choose();
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->configs.at(0).converter, "tf_detection");

  NamedOutputs paddle({1, 3, 320, 320});
  paddle.add("multiclass_nms3_0.tmp_0", {kUnknownDim, 6});
  paddle.add("multiclass_nms3_0.tmp_2", {kUnknownDim});
  EXPECT_EQ(paddle.choose()->configs.at(0).converter, "paddle_detection");

  NamedOutputs rows({1, 3, 640, 640});
  rows.add("output", {kUnknownDim, 7}, "Concat");
  EXPECT_FALSE(rows.choose());
  rows.model.add_node("nms", "NonMaxSuppression", "", {rows.picture}, {"nms"});
  EXPECT_EQ(rows.choose()->configs.at(0).converter, "yolo_v7_end2end");

  NamedOutputs plus({1, 3, 416, 416});
  plus.add("output", {1, 3598, 112}, "Transpose");
  EXPECT_EQ(plus.choose()->configs.at(0).converter, "nanodet_plus");
  NamedOutputs fastest({1, 3, 352, 352});
  fastest.add("a", {1, 22, 22, 95}, "Transpose");
  fastest.add("b", {1, 11, 11, 95}, "Transpose");
  EXPECT_EQ(fastest.choose()->configs.at(0).converter, "yolo_fastestv2");
}

TEST(Readings, NamesOfTheOnnxZooTellUnits) {
  const auto chosen = [](const char* boxes) {
    NamedOutputs graph({1, 3, 1200, 1200});
    graph.add(boxes, {1, 200, 4});
    graph.add("scores", {1, 200});
    Value* labels = graph.model.add_node("l", "Cast", "", {graph.picture}, {"labels"})->output();
    graph.model.add_output("labels", labels);
    graph.outputs.push_back({"labels", {ElementType::Int64, {1, 200}}, std::nullopt});
    return graph.choose()->configs.at(0);
  };
  EXPECT_EQ(chosen("bboxes").converter, "rtdetr");
  EXPECT_EQ(chosen("bboxes").unit, "relative");
  EXPECT_EQ(chosen("boxes").unit, "");
}

TEST(Readings, CrnnIsKnownByItsShapes) {
  NamedOutputs graph({1, 1, 32, 100});
  graph.add("76", {24, 1, 37}, "Add");
  const auto choice = graph.choose();
  ASSERT_TRUE(choice) << choice.error().message();
  EXPECT_EQ(choice->configs.at(0).converter, "paddle_ocr_ctc");
  EXPECT_EQ(choice->configs.at(0).layer_names, (std::vector<std::string>{"76"}));
  EXPECT_EQ(choice->configs.at(0).labels.size(), 36u);
  EXPECT_NE(choice->reason.find("the shapes of CRNN"), std::string::npos) << choice->reason;
}

TEST(Readings, NetworksOfFacesFixTheirPicturesThoseOfPersonsDoNot) {
  DecoderConfig embedding;
  embedding.converter = "embedding";
  NamedOutputs face({1, 3, 112, 112});
  const PictureAssumption of_faces = assume_pictures(embedding, face.model, *face.picture);
  EXPECT_FALSE(of_faces.is_guess);
  EXPECT_EQ(of_faces.input.preprocess.color_order, ColorOrder::RGB);
  EXPECT_FLOAT_EQ(of_faces.input.preprocess.mean[0], 127.5f);
  NamedOutputs person({1, 3, 256, 128});
  const PictureAssumption of_persons = assume_pictures(embedding, person.model, *person.picture);
  EXPECT_TRUE(of_persons.is_guess);
  EXPECT_FLOAT_EQ(of_persons.input.preprocess.mean[0], 0.485f);
}

}  // namespace
}  // namespace het
