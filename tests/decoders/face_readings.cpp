#include <gtest/gtest.h>

#include "inference/decoders/choose_decoders.h"
#include "inference/decoders/picture_assumption.h"
#include "inference/passes/infer_shapes.h"
#include "tests/devices/device_testing.h"

namespace het {
namespace {

using device_testing::Ints;
using device_testing::make_attributes;
using device_testing::ModelMaker;

/// A model of one picture whose outputs are made of convolutions on it by chains of operators.
struct Faces {
  Model model{"net"};
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  Value* picture;

  explicit Faces(int64_t width, int64_t height, bool channels_last = false) {
    const Shape shape = channels_last ? Shape{1, height, width, 3} : Shape{1, 3, height, width};
    picture = model.add_input("input", {ElementType::Float32, shape});
    inputs.push_back({"input", picture->desc(), PreprocessDesc{}});
    if (channels_last) inputs.back().preprocess->tensor_layout = Layout::NHWC;
  }
  Faces& add(const std::string& name, const Shape& shape,
             const std::vector<std::string>& types = {"Conv", "Transpose", "Reshape"}) {
    Value* value = picture;
    for (const std::string& type : types) {
      const std::string made = type + std::to_string(model.nodes().size());
      value = model.add_node(made, type, "", {value}, {made})->output();
    }
    model.add_output(name, value);
    outputs.push_back({name, {ElementType::Float32, shape}, std::nullopt});
    return *this;
  }
  Result<DecoderChoice> choose() const {
    return choose_decoders({}, {}, model, inputs, outputs, {});
  }
  DecoderConfig chosen() const {
    const auto choice = choose();
    if (!choice) return {};
    EXPECT_TRUE(create_decoder(choice->configs.at(0), inputs, outputs));
    return choice->configs.at(0);
  }
  PreprocessDesc pictures() const {
    const PictureAssumption assumed = assume_pictures(chosen(), model, *picture);
    EXPECT_FALSE(assumed.is_guess) << assumed.reason;
    return assumed.input.preprocess;
  }
};

Faces scrfd(bool batch, const std::vector<std::string>& scores, bool points = true) {
  Faces faces(640, 640);
  int name = 448;
  for (const int64_t columns : {1, 4, 10}) {
    for (const int64_t rows : {12800, 3200, 800}) {
      if (columns == 10 && !points) continue;
      const Shape shape = batch ? Shape{1, rows, columns} : Shape{rows, columns};
      const std::string text = std::to_string(name++);
      if (columns == 1)
        faces.add(text, shape, scores);
      else
        faces.add(text, shape);
    }
  }
  return faces;
}

TEST(FaceReadings, ScrfdWithAndWithoutBatchPointsAndSigmoid) {
  for (const bool batch : {false, true}) {
    for (const bool points : {false, true}) {
      const DecoderConfig config =
          scrfd(batch, {"Conv", "Transpose", "Reshape", "Sigmoid"}, points).chosen();
      EXPECT_EQ(config.converter, "scrfd");
      EXPECT_FALSE(config.sigmoid_activation);
    }
  }
  const Faces logits = scrfd(true, {"Conv", "Transpose", "Reshape"});
  EXPECT_TRUE(logits.chosen().sigmoid_activation);
  const PreprocessDesc pictures = logits.pictures();
  EXPECT_EQ(pictures.color_order, ColorOrder::RGB);
  EXPECT_EQ(pictures.resize, ResizeMode::LetterboxTopLeft);
  EXPECT_FLOAT_EQ(pictures.mean[1], 127.5f);
  EXPECT_FLOAT_EQ(pictures.std[1], 128.0f);
  EXPECT_FLOAT_EQ(pictures.pad_value[0], 0.0f);
}

Faces retina(const std::vector<std::string>& boxes, const std::vector<std::string>& scores,
             int64_t rows = 16800) {
  Faces faces(640, 640);
  faces.add("output", {1, rows, 4}, boxes);
  faces.add("outputt", {1, rows, 2}, scores);
  faces.add("outputtt", {1, rows, 10});
  return faces;
}

TEST(FaceReadings, PriorBoxesWhereTheGraphDoesNotDecodeThem) {
  const std::vector<std::string> raw{"Conv", "Transpose", "Reshape", "Concat"};
  const Faces faces = retina(raw, {"Conv", "Transpose", "Reshape", "Concat", "Softmax"});
  EXPECT_EQ(faces.chosen().converter, "prior_boxes");
  EXPECT_FALSE(faces.chosen().class_softmax);
  EXPECT_TRUE(retina(raw, raw).chosen().class_softmax);
  EXPECT_EQ(retina({"Conv", "Mul"}, raw).chosen().converter, "");
  EXPECT_EQ(retina({"Conv", "Mul", "Add", "Concat"}, raw).chosen().converter, "");
  EXPECT_EQ(retina(raw, raw, 16801).chosen().converter, "");
  const PreprocessDesc pictures = faces.pictures();
  EXPECT_EQ(pictures.color_order, ColorOrder::BGR);
  EXPECT_FLOAT_EQ(pictures.mean[0], 104.0f);
  EXPECT_FLOAT_EQ(pictures.std[0], 1.0f);
  // Ultra-Light's own exports have decoded boxes, and slim ones without points offsets.
  Faces light(320, 240);
  light.add("scores", {1, 4420, 2}, {"Conv", "Softmax"}).add("boxes", {1, 4420, 4}, raw);
  EXPECT_EQ(light.chosen().converter, "prior_boxes");
}

TEST(FaceReadings, YuNetsOlderFormAndPlatesBySize) {
  const auto made = [](int64_t width, int64_t height, int64_t rows) {
    Faces faces(width, height);
    faces.add("loc", {rows, 14}).add("conf", {rows, 2}, {"Conv", "Reshape", "Softmax"});
    faces.add("iou", {rows, 1});
    return faces;
  };
  const Faces faces = made(160, 120, 1076);
  EXPECT_EQ(faces.chosen().converter, "prior_boxes");
  EXPECT_TRUE(faces.chosen().point_names.empty());
  EXPECT_TRUE(faces.choose()->plain_pictures);
  const Faces plates = made(320, 240, 4385);
  EXPECT_EQ(plates.chosen().point_names.size(), 4u);
}

TEST(FaceReadings, MediaPipesFacesAndPalms) {
  const auto made = [](int64_t size, int64_t rows, int64_t columns) {
    Faces faces(size, size, true);
    faces.add("regressors", {1, rows, columns}, {"Conv", "Reshape", "Concat"});
    faces.add("classificators", {1, rows, 1}, {"Conv", "Reshape", "Concat"});
    return faces;
  };
  for (const auto& [size, rows] : {std::pair{128, 896}, {192, 2304}, {256, 896}}) {
    const Faces faces = made(size, rows, 16);
    EXPECT_EQ(faces.chosen().converter, "blazeface");
    const PreprocessDesc pictures = faces.pictures();
    EXPECT_EQ(pictures.color_order, ColorOrder::RGB);
    EXPECT_EQ(pictures.resize, ResizeMode::LetterboxCentre);
    EXPECT_FLOAT_EQ(pictures.std[0], 127.5f);
  }
  const Faces palms = made(192, 2016, 18);
  EXPECT_EQ(palms.chosen().point_names.size(), 7u);
  EXPECT_FLOAT_EQ(palms.pictures().range_high, 1.0f);
  EXPECT_FLOAT_EQ(palms.pictures().mean[0], 0.0f);
  EXPECT_FLOAT_EQ(made(256, 2944, 18).pictures().std[0], 127.5f);
  Faces bounded(128, 128);
  bounded.add("a", {1, 896, 16}).add("b", {1, 896, 1}, {"Conv", "Sigmoid"});
  EXPECT_NE(bounded.chosen().converter, "blazeface");
}

/// Rows of an input of 32x32 pixels: parts made by one operator each, joined.
DecoderConfig chosen_of_rows(const std::vector<std::pair<std::string, int64_t>>& parts,
                             bool with_zeros = false) {
  ModelMaker maker;
  Value* picture = maker.input({1, 3, 32, 32});
  std::vector<Value*> values;
  int64_t columns = 0;
  for (const auto& [type, count] : parts) {
    Value* source = maker.input({1, 63, count});
    std::vector<Value*> operands{source};
    if (type == "Mul") operands.push_back(maker.input({1}));
    Value* made = maker.op(type, operands);
    if (with_zeros) {
      const Tensor zeros = Tensor::from<float>(
          {1, 63, count}, std::vector<float>(static_cast<size_t>(63 * count), 0.0f));
      made = maker.op("Add", {maker.constant(zeros), made});
    }
    values.push_back(made);
    columns += count;
  }
  maker.output(maker.op("Concat", values, make_attributes({{"axis", int64_t{2}}})));
  EXPECT_TRUE(infer_shapes(maker.model()).ok());
  const std::vector<Port> inputs{{"input", picture->desc(), PreprocessDesc{}}};
  const std::vector<Port> outputs{{maker.model().outputs().front().name,
                                   {ElementType::Float32, {1, 63, columns}},
                                   std::nullopt}};
  const auto choice = choose_decoders({}, {}, maker.model(), inputs, outputs, {});
  return choice ? choice->configs.at(0) : DecoderConfig{};
}

TEST(FaceReadings, RowsOfYoloWithPointsByWhatHasNoBound) {
  for (const bool zeros : {false, true}) {
    const DecoderConfig faces =
        chosen_of_rows({{"Mul", 4}, {"Sigmoid", 1}, {"Mul", 10}, {"Sigmoid", 1}}, zeros);
    EXPECT_EQ(faces.converter, "yolo_v5_face");
    EXPECT_EQ(faces.classes, 1);
    const DecoderConfig plates =
        chosen_of_rows({{"Mul", 4}, {"Sigmoid", 1}, {"Mul", 8}, {"Sigmoid", 2}}, zeros);
    EXPECT_EQ(plates.converter, "yolo_v5_face");
    EXPECT_EQ(plates.classes, 2);
  }
  EXPECT_EQ(chosen_of_rows({{"Mul", 4}, {"Sigmoid", 2}, {"Mul", 15}}).converter, "yolo_v7_pose");
  EXPECT_EQ(chosen_of_rows({{"Mul", 4}, {"Sigmoid", 12}}).converter, "yolo_v5");
  // Four classes that were multiplied by the objectness are no point.
  EXPECT_EQ(chosen_of_rows({{"Mul", 4}, {"Sigmoid", 1}, {"Mul", 4}}).converter, "");
  EXPECT_EQ(chosen_of_rows({{"Mul", 4}, {"Sigmoid", 1}, {"Mul", 11}}).converter, "");
}

}  // namespace
}  // namespace het
