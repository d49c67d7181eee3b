#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "devices/register_devices.h"
#include "inference/decoders/choose_decoders.h"
#include "inference/decoders/model_inputs.h"
#include "inference/decoders/picture_assumption.h"
#include "inference/vision_model.h"
#include "inference/writers/onnx_writer.h"

namespace het {
namespace {

using Names = std::vector<std::string>;

/// A model of one picture; each output is made by one operator.
struct BodyOutputs {
  Model model{"net"};
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  Value* picture;

  BodyOutputs(int64_t width, int64_t height, ElementType type = ElementType::Float32) {
    picture = model.add_input("input", {type, {1, 3, height, width}});
    inputs.push_back({"input", picture->desc(), PreprocessDesc{}});
  }
  BodyOutputs& add(const std::string& name, const Shape& shape, const std::string& maker = "Conv",
                   size_t parts = 1) {
    const std::vector<Value*> operands(parts, picture);
    model.add_output(name, model.add_node(name, maker, "", operands, {name})->output());
    outputs.push_back({name, {ElementType::Float32, shape}, std::nullopt});
    return *this;
  }
  Result<DecoderChoice> choose() const {
    return choose_decoders({}, {}, model, inputs, outputs, {});
  }
  /// The one reading, which has to make a decoder.
  DecoderConfig chosen() const {
    const auto choice = choose();
    if (!choice || choice->configs.size() != 1) return {};
    const auto decoder = create_decoder(choice->configs[0], inputs, outputs);
    EXPECT_TRUE(decoder) << decoder.error().message();
    return choice->configs[0];
  }
  PictureAssumption pictures() const { return assume_pictures(chosen(), model, *picture); }
};

TEST(BodyReadings, FaceMeshes) {
  BodyOutputs mesh(192, 192);
  mesh.add("conv2d_21", {1, 1, 1, 1404}).add("conv2d_31", {1, 1, 1, 1});
  const DecoderConfig config = mesh.chosen();
  EXPECT_EQ(config.converter, "landmarks");
  EXPECT_EQ(config.layer_names, (Names{"conv2d_21"}));
  EXPECT_EQ(config.presence_layer, "conv2d_31");
  EXPECT_TRUE(config.sigmoid_activation);
  EXPECT_EQ(config.unit, "pixels");
  EXPECT_EQ(config.values_per_point, 3);
  const PictureAssumption pictures = mesh.pictures();
  EXPECT_FALSE(pictures.is_guess);
  EXPECT_EQ(pictures.input.preprocess.color_order, ColorOrder::RGB);
  EXPECT_EQ(pictures.input.preprocess.range_high, 1.0f);

  BodyOutputs newer(256, 256);
  newer.add("Identity", {1, 1, 1, 1434}).add("Identity_1", {1, 1, 1, 1}).add("Identity_2", {1, 1});
  EXPECT_EQ(newer.chosen().presence_layer, "Identity_1");
  EXPECT_EQ(BodyOutputs(192, 192).add("out", {1, 1404}).chosen().presence_layer, "");
  EXPECT_EQ(BodyOutputs(160, 160).add("out", {1, 1404}).chosen().converter, "");
}

TEST(BodyReadings, IrisHandsAndPoses) {
  BodyOutputs iris(64, 64);
  iris.add("output_eyes_contours_and_brows", {1, 213}).add("output_iris", {1, 15});
  EXPECT_EQ(iris.chosen().layer_names, (Names{"output_eyes_contours_and_brows", "output_iris"}));

  BodyOutputs hands(224, 224);
  hands.add("Identity", {1, 63}).add("Identity_1", {1, 1}, "Sigmoid");
  hands.add("Identity_2", {1, 1}, "Sigmoid").add("Identity_3", {1, 63});
  const DecoderConfig of_hands = hands.chosen();
  EXPECT_EQ(of_hands.layer_names, (Names{"Identity"}));
  EXPECT_EQ(of_hands.presence_layer, "Identity_1");
  EXPECT_FALSE(of_hands.sigmoid_activation);
  EXPECT_EQ(of_hands.point_names.size(), 21u);

  BodyOutputs poses(256, 256);
  poses.add("Identity", {1, 195}).add("Identity_1", {1, 1}, "Sigmoid");
  poses.add("Identity_2", {1, 256, 256, 1}).add("Identity_3", {1, 64, 64, 39});
  poses.add("Identity_4", {1, 117});
  const DecoderConfig of_poses = poses.chosen();
  EXPECT_EQ(of_poses.layer_names, (Names{"Identity"}));
  EXPECT_EQ(of_poses.slice, (std::vector<int>{0, 165}));
  EXPECT_EQ(of_poses.values_per_point, 5);
  EXPECT_EQ(of_poses.point_names.at(32), "foot_r");
}

TEST(BodyReadings, MoveNet) {
  BodyOutputs one(192, 192, ElementType::UInt8);
  EXPECT_EQ(one.add("output_0", {1, 1, 17, 3}).chosen().converter, "movenet");
  EXPECT_EQ(one.pictures().input.preprocess.color_order, ColorOrder::RGB);
  EXPECT_EQ(one.pictures().input.preprocess.range_high, 255.0f);
  EXPECT_EQ(one.pictures().input.preprocess.resize, ResizeMode::LetterboxCentre);
  EXPECT_EQ(BodyOutputs(256, 256).add("output_0", {1, 6, 56}).chosen().converter, "movenet");
}

TEST(BodyReadings, SimCc) {
  BodyOutputs body(192, 256);
  body.add("simcc_x", {1, 17, 384}).add("simcc_y", {1, 17, 512});
  EXPECT_EQ(body.chosen().converter, "simcc");
  EXPECT_FALSE(body.pictures().is_guess);
  BodyOutputs unnamed(288, 384);
  unnamed.add("1", {1, 133, 576}).add("2", {1, 133, 768});
  EXPECT_EQ(unnamed.chosen().converter, "simcc");
  BodyOutputs other(192, 256);
  other.add("1", {1, 17, 384}).add("2", {1, 17, 384});
  EXPECT_EQ(other.chosen().converter, "");
  BodyOutputs maps(64, 64);
  maps.add("d0", {1, 64, 64}, "Sigmoid").add("d1", {1, 64, 64}, "Sigmoid");
  EXPECT_EQ(maps.chosen().converter, "semantic_segmentation");
}

TEST(BodyReadings, HeadPosesAndGaze) {
  BodyOutputs rotation(224, 224);
  EXPECT_EQ(rotation.add("out", {1, 3, 3}, "Concat", 3).chosen().converter, "head_pose");
  EXPECT_EQ(BodyOutputs(224, 224).add("rotation_matrix", {1, 3, 3}).chosen().converter,
            "head_pose");
  EXPECT_EQ(BodyOutputs(224, 224).add("out", {1, 3, 3}).chosen().converter, "");
  BodyOutputs hopenet(224, 224);
  hopenet.add("a", {1, 66}).add("b", {1, 66}).add("c", {1, 66}).add("d", {1, 3});
  EXPECT_EQ(hopenet.chosen().converter, "head_pose");
  BodyOutputs gaze(448, 448);
  gaze.add("a", {1, 90}).add("b", {1, 90});
  EXPECT_EQ(gaze.chosen().attribute_name, "gaze");
  EXPECT_EQ(gaze.pictures().input.preprocess.resize, ResizeMode::Stretch);
  EXPECT_EQ(rotation.pictures().input.preprocess.resize, ResizeMode::CentralCrop);
  EXPECT_EQ(BodyOutputs(224, 224).add("a", {1, 90}).add("b", {1, 90}).chosen().converter, "");
}

TEST(BodyReadings, NetworksOfSeveralPicturesAreErrors) {
  Model gaze{"gaze-estimation-adas-0002"};
  gaze.add_input("left_eye_image", {ElementType::Float32, {1, 3, 60, 60}});
  gaze.add_input("right_eye_image", {ElementType::Float32, {1, 3, 60, 60}});
  gaze.add_input("head_pose_angles", {ElementType::Float32, {1, 3}});
  const auto bound = bind_inputs({}, gaze);
  ASSERT_TRUE(bound) << bound.error().message();
  const auto picture = picture_input(*bound, gaze);
  ASSERT_FALSE(picture);
  EXPECT_NE(picture.error().message().find("needs exactly one picture input"), std::string::npos);
  EXPECT_NE(picture.error().message().find("'left_eye_image'"), std::string::npos);
  EXPECT_NE(picture.error().message().find("cannot be fed with one"), std::string::npos);
}

TEST(BodyReadings, PicturesOfWideIntegersAreBytes) {
  Model model("wide");
  Value* picture = model.add_input("picture", {ElementType::Int32, {1, 8, 8, 3}});
  Node* cast = model.add_node("cast", "Cast", "", {picture}, {"cast"});
  cast->attributes().set("to", int64_t{1});  // float
  Node* turned = model.add_node("turned", "Transpose", "", {cast->output()}, {"turned"});
  turned->attributes().set("perm", std::vector<int64_t>{0, 3, 1, 2});
  model.add_output(
      "y", model.add_node("y", "GlobalAveragePool", "", {turned->output()}, {"y"})->output());
  const std::string file =
      testing::TempDir() + "het-wide-picture-" + std::to_string(::getpid()) + ".onnx";
  ASSERT_TRUE(write_onnx(model, file).ok());
  const auto core_of_process = core();
  VisionModelSettings settings;
  settings.model = file;
  settings.copy_outputs = true;
  const auto loaded = VisionModel::load(*core_of_process, settings);
  ASSERT_TRUE(loaded) << loaded.error().message();
  const Image image = make_host_image(PixelFormat::BGR, 8, 8).value();
  std::memset(image.planes[0].buffer->host(), 200, image.planes[0].buffer->size_bytes());
  const auto request = (*loaded)->compiled().create_infer_request().value();
  ASSERT_TRUE((*loaded)->set_picture(*request, image, image.full()).ok());
  ASSERT_TRUE(request->infer().ok());
  EXPECT_EQ(to_float_vector(request->output(0)).value(), (std::vector<float>{200, 200, 200}));
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace het
