#include "inference/vision_model.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "devices/register_devices.h"
#include "inference/base/log.h"
#include "inference/writers/onnx_writer.h"
#include "tests/readers/onnx/onnx_file.h"

namespace het {
namespace {

/// These tests compile on REF: they are about what happens before and after the execution.
class VisionModels : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* shared = std::getenv("HET_SHARED_DATA");
    const char* root = std::getenv("HET_SOURCE_ROOT");
    if (shared == nullptr || root == nullptr ||
        !std::filesystem::exists(std::string(shared) + "/models/onnx"))
      GTEST_SKIP() << "the shared data is absent (HET_SHARED_DATA)";
    models_ = std::string(shared) + "/models/onnx/";
    descriptors_ = std::string(root) + "/pipelines/models/";
    core_ = core();
  }

  VisionModelSettings settings(const std::string& model, const std::string& descriptor) const {
    VisionModelSettings settings;
    settings.model = models_ + model + ".onnx";
    if (!descriptor.empty()) settings.model_proc = descriptors_ + descriptor + ".json";
    settings.device = "REF";
    return settings;
  }

  std::string load_error(const VisionModelSettings& s) const {
    const auto model = VisionModel::load(*core_, s);
    return model ? "" : model.error().message();
  }

  std::string models_;
  std::string descriptors_;
  std::shared_ptr<Core> core_;
};

TEST_F(VisionModels, DynamicInputNeedsASize) {
  VisionModelSettings s = settings("yunet_n_dynamic", "");
  EXPECT_NE(load_error(s).find("reshape-width"), std::string::npos) << load_error(s);
  s.model_proc = descriptors_ + "yunet_n_320.json";
  s.picture_width = 256;
  s.picture_height = 192;
  const auto sized = VisionModel::load(*core_, s);
  ASSERT_TRUE(sized) << sized.error().message();
  EXPECT_EQ((*sized)->input_width(), 256);
  EXPECT_EQ((*sized)->input_height(), 192);
  EXPECT_EQ((*sized)->batch_size(), 1);
}

TEST_F(VisionModels, UsersShapeWinsOverTheDescriptors) {
  VisionModelSettings s = settings("yunet_n_dynamic", "yunet_n_dynamic");
  s.reshape["input"] = {2, kUnknownDim, 64, 96};
  const auto model = VisionModel::load(*core_, s);
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ((*model)->batch_size(), 2);
  EXPECT_EQ((*model)->input_width(), 96);
  s.picture_width = 32;
  EXPECT_NE(load_error(s).find("reshaped twice"), std::string::npos);
  s.picture_width = 0;
  s.reshape["input"] = {1, 3, 64};
  EXPECT_NE(load_error(s).find("cannot become [1,3,64]"), std::string::npos);
  s.reshape = {{"nothing", {1, 3, 64, 64}}};
  EXPECT_NE(load_error(s).find("nothing"), std::string::npos);
}

TEST_F(VisionModels, EveryInputMustBeFilled) {
  Model model("two");
  Value* picture = model.add_input("picture", {ElementType::Float32, {1, 3, 8, 8}});
  Value* size = model.add_input("thing", {ElementType::Float32, {1, 2}});
  model.add_output("a", model.add_node("a", "Relu", "", {picture}, {"a"})->output());
  model.add_output("b", model.add_node("b", "Relu", "", {size}, {"b"})->output());
  const std::string file =
      testing::TempDir() + "het-two-inputs-" + std::to_string(::getpid()) + ".onnx";
  ASSERT_TRUE(write_onnx(model, file).ok());
  VisionModelSettings s;
  s.model = file;
  const std::string message = load_error(s);
  EXPECT_NE(message.find("image_info"), std::string::npos) << message;
  std::filesystem::remove(file);
}

/// A picture of four channels, of which each is averaged, times what another input holds.
std::string four_channels(const std::string& folder) {
  Model model("four");
  Value* picture = model.add_input("picture", {ElementType::Float32, {1, 4, 8, 8}});
  Value* angles = model.add_input("angles", {ElementType::Float32, {1, 4}});
  Value* means = model.add_node("means", "GlobalAveragePool", "", {picture}, {"means"})->output();
  Value* flat = model.add_node("flat", "Flatten", "", {means}, {"flat"})->output();
  model.add_output("y", model.add_node("y", "Mul", "", {flat, angles}, {"y"})->output());
  const std::string file = folder + "/four.onnx";
  EXPECT_TRUE(write_onnx(model, file).ok());
  return file;
}

TEST(VisionModelsInputs, ConstantsAndAFourthChannel) {
  const std::string folder = testing::TempDir() + "het-four-channels-" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  const auto core_of_process = core();
  VisionModelSettings s;
  s.model = four_channels(folder);
  s.model_proc = folder + "/four.json";
  std::ofstream(folder + "/angles.txt") << "1, 2\n3 4\n";
  const auto describe =
      [&](const std::string& constant) {
        std::ofstream(s.model_proc)
            << R"({"json_schema_version": "2.2.0", "input_preproc": [
            {"layer_name": "picture", "format": "image", "params": {"fourth_channel": 0.5}},
            {"layer_name": "angles", "format": "constant", "params": )" +
                   constant + R"(}], "output_postproc": [{"converter": "raw_data_copy"}]})";
      };
  const Image image = make_host_image(PixelFormat::BGR, 8, 8).value();
  std::memset(image.planes[0].buffer->host(), 10, image.planes[0].buffer->size_bytes());
  const auto values = [&] {
    const auto model = VisionModel::load(*core_of_process, s);
    EXPECT_TRUE(model) << model.error().message();
    if (!model) return std::vector<float>{};
    const auto request = (*model)->compiled().create_infer_request().value();
    EXPECT_TRUE((*model)->set_picture(*request, image, image.full()).ok());
    EXPECT_TRUE(request->infer().ok());
    return to_float_vector(request->output(0)).value();
  };
  describe(R"({"file": "angles.txt"})");
  EXPECT_EQ(values(), (std::vector<float>{10, 20, 30, 2}));
  describe(R"({"value": 2})");
  EXPECT_EQ(values(), (std::vector<float>{20, 20, 20, 1}));
  describe(R"({"value": [1, 0]})");
  EXPECT_EQ(values(), (std::vector<float>{10, 0, 10, 0}));
  for (const auto& [wrong, told] : {std::pair{R"({"value": [1, 2, 3]})", "do not fill it"},
                                    {R"({})", "value"},
                                    {R"({"value": 1, "file": "angles.txt"})", "one of them"},
                                    {R"({"file": "/etc/hostname"})", "inside the folder"},
                                    {R"({"value": "x"})", "value"}}) {
    describe(wrong);
    const auto model = VisionModel::load(*core_of_process, s);
    ASSERT_FALSE(model) << wrong;
    EXPECT_NE(model.error().message().find(told), std::string::npos) << model.error().message();
  }
  std::ofstream(folder + "/angles.txt") << "1 two";
  describe(R"({"file": "angles.txt"})");
  const auto broken = VisionModel::load(*core_of_process, s);
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message().find("'two' is no number"), std::string::npos);
  std::filesystem::remove_all(folder);
}

/// A reader of lines of any width: each column's mean of B, G and R are scores of a blank, a and b.
std::string reader_of_lines(const std::string& folder) {
  Model model("reader");
  Value* picture = model.add_input("x", {ElementType::Float32, {1, 3, 8, kUnknownDim}});
  Attributes mean;
  mean.set("keepdims", int64_t{0});
  Value* axes = model.add_constant("axes", Tensor::from<int64_t>({1}, {2}));
  Value* columns = model.add_node("m", "ReduceMean", "", {picture, axes}, {"m"}, mean)->output();
  Attributes steps;
  steps.set("perm", std::vector<int64_t>{0, 2, 1});
  model.add_output("probs",
                   model.add_node("t", "Transpose", "", {columns}, {"probs"}, steps)->output());
  const std::string file = folder + "/reader.onnx";
  EXPECT_TRUE(write_onnx(model, file).ok());
  return file;
}

TEST(VisionModelsInputs, AnOpenWidthFollowsThePicture) {
  const std::string folder = testing::TempDir() + "het-widths-" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  const auto core_of_process = core();
  VisionModelSettings s;
  s.model = reader_of_lines(folder);
  s.model_proc = folder + "/reader.json";
  const auto describe = [&](const std::string& widths) {
    std::ofstream(s.model_proc) << R"({"json_schema_version": "2.2.0", "input_preproc": [
            {"format": "image", "params": {"resize": "aspect-ratio-pad", "range": [0, 1],
             "widths": )" + widths + R"(}}], "output_postproc": [
            {"converter": "paddle_ocr_ctc", "labels": ["a", "b"]}]})";
  };
  describe("[16, 32]");
  const auto model = VisionModel::load(*core_of_process, s);
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ((*model)->input_width(), 32);
  EXPECT_EQ((*model)->for_region({0, 0, 16, 8}).input_width(), 16);
  EXPECT_EQ((*model)->for_region({0, 0, 34, 16}).input_width(), 32);
  EXPECT_EQ(&(*model)->for_region({0, 0, 800, 8}), model->get());
  // Red columns are b, green ones a.
  const Image image = make_host_image(PixelFormat::BGR, 24, 8).value();
  auto* bytes = reinterpret_cast<uint8_t*>(image.planes[0].buffer->host());
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 24; ++x) {
      uint8_t* pixel = bytes + image.planes[0].offset + y * image.planes[0].stride_bytes + 3 * x;
      pixel[0] = 0;
      pixel[1] = x / 8 == 1 ? 0 : 255;
      pixel[2] = x / 8 == 1 ? 255 : 0;
    }
  }
  for (const auto& [roi, text] : {std::pair{Rect{0, 0, 16, 8}, "ab"}, {Rect{0, 0, 24, 8}, "aba"}}) {
    const VisionModel& fitting = (*model)->for_region(roi);
    const auto request = fitting.compiled().create_infer_request().value();
    ASSERT_TRUE(fitting.set_picture(*request, image, roi).ok());
    ASSERT_TRUE(request->infer().ok());
    const auto found = fitting.results(*request, 24, 8, roi);
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ(found->classifications.at(0).label, text);
  }
  s.picture_width = 24;
  EXPECT_EQ((*VisionModel::load(*core_of_process, s))->for_region({0, 0, 8, 8}).input_width(), 24);
  s.picture_width = 0;
  describe("[32, 16]");
  const auto unsorted = VisionModel::load(*core_of_process, s);
  ASSERT_FALSE(unsorted);
  EXPECT_NE(unsorted.error().message().find("ascending"), std::string::npos);
  describe("[16]");
  s.reshape["x"] = {1, 3, 8, 24};
  EXPECT_TRUE(VisionModel::load(*core_of_process, s)) << "what is said wins";
  std::filesystem::remove_all(folder);
}

TEST_F(VisionModels, WidthsAreForOpenWidths) {
  const std::string descriptor =
      testing::TempDir() + "het-widths-" + std::to_string(::getpid()) + ".json";
  std::ofstream(descriptor) << R"({"json_schema_version": "2.2.0", "input_preproc": [
      {"format": "image", "params": {"widths": [64, 128]}}], "output_postproc": []})";
  VisionModelSettings s = settings("yunet_n_320", "");
  s.model_proc = descriptor;
  EXPECT_NE(load_error(s).find("whose width is known"), std::string::npos) << load_error(s);
  std::filesystem::remove(descriptor);
}

TEST_F(VisionModels, SizesAreFilledByTheNamesOfTheirInputs) {
  EXPECT_EQ(load_error(settings("deimv2_atto_320", "")), "");
}

TEST_F(VisionModels, ImageInfoIsTheSizeOfTheInputPicture) {
  VisionModelSettings s = settings("deimv2_atto_320", "deimv2_atto_320");
  s.reshape["images"] = {2, 3, 320, 320};
  const auto model = VisionModel::load(*core_, s);
  ASSERT_TRUE(model) << model.error().message();
  const auto request = (*model)->compiled().create_infer_request();
  ASSERT_TRUE(request);
  const Image image = make_host_image(PixelFormat::BGR, 64, 48).value();
  ASSERT_TRUE((*model)->set_picture(**request, image, image.full(), 1).ok());
  const size_t index = (*model)->compiled().input_index("orig_target_sizes").value();
  EXPECT_EQ(to_int64_vector((*request)->input(index)).value(),
            (std::vector<int64_t>{320, 320, 320, 320}));
  const Status beyond = (*model)->set_picture(**request, image, image.full(), 2);
  ASSERT_FALSE(beyond.ok());
  EXPECT_NE(beyond.message().find("0..1"), std::string::npos);
}

TEST_F(VisionModels, ModelsWithoutPictureInputAreRefused) {
  EXPECT_NE(load_error(settings("kws_fp32", "")).find("picture input"), std::string::npos);
}

TEST_F(VisionModels, SoftmaxNeedsNoDescriptorAndOneLineSaysWhy) {
  std::string said;
  set_log_sink([&](LogLevel, std::string_view line) { said += line; }, LogLevel::Info);
  const auto model = VisionModel::load(*core_, settings("squeezenet1.1_fp16", ""));
  set_log_sink({}, LogLevel::Warning);
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_NE(said.find("read by label because output 'softmaxout_1' is a softmax over 1000"),
            std::string::npos)
      << said;
}

TEST_F(VisionModels, DetectorsAloneAreReadByTheirGraph) {
  for (const auto& [name, reading] : {std::pair{"yolox_nano", "read by yolo_x because"},
                                      {"yunet_n_320", "read by yunet because"},
                                      {"nanodet_m_320", "read by nanodet because"},
                                      {"ultraface_rfb_320", "read by boxes_scores because"}}) {
    std::string said;
    set_log_sink([&](LogLevel, std::string_view line) { said += line; }, LogLevel::Info);
    const std::string problem = load_error(settings(name, ""));
    set_log_sink({}, LogLevel::Warning);
    EXPECT_EQ(problem, "") << name;
    EXPECT_NE(said.find(reading), std::string::npos) << name << ": " << said;
  }
}

TEST_F(VisionModels, UnclearOutputsListWhatFits) {
  const std::string message = load_error(settings("samplenet", ""));
  EXPECT_NE(message.find("{\"converter\": \"embedding\"}"), std::string::npos) << message;
  EXPECT_EQ(message.find("detection_output"), std::string::npos) << message;
  VisionModelSettings raw = settings("person_reid_0288_nhwc", "");
  raw.raw_tensors = true;
  EXPECT_EQ(load_error(raw), "");
}

TEST_F(VisionModels, DescriptorOfAnotherModelIsAnError) {
  EXPECT_NE(load_error(settings("fastestdet_352", "yolox_nano")).find("'images'"),
            std::string::npos);
  VisionModelSettings labels = settings("yolox_nano", "yolox_nano");
  labels.labels = {"one"};
  EXPECT_NE(load_error(labels).find("1 labels for the 80 classes"), std::string::npos);
  labels.labels.clear();
  labels.labels_file = "/nowhere/labels.txt";
  EXPECT_NE(load_error(labels).find("/nowhere/labels.txt"), std::string::npos);
}

/// A detector as exporters write them: what is left of three boxes behind a suppression, declared
/// [1,-1,5], and labels [1,-1].
std::string suppressed_boxes() {
  const std::vector<float> corners{0, 0, 4, 4, 0, 0, 4, 3, 6, 6, 8, 8};
  test::Graph graph;
  graph.input("image", {{1, 3, 8, 8}})
      .initializer(test::float_tensor("corners", {1, 3, 4}, corners))
      .initializer(test::float_tensor("weights", {1, 1, 3}, {0.9f, 0.8f, 0.7f}))
      .initializer(test::int64_tensor("most", {}, {10}))
      .initializer(test::float_tensor("overlap", {}, {0.5f}))
      .initializer(test::int64_tensor("column", {}, {2}))
      .initializer(test::int64_tensor("zero", {1}, {0}))
      .node("ReduceMax", {"image"}, {"brightest"}, {test::Attr("keepdims", 0)})
      .node("Mul", {"weights", "brightest"}, {"scores"})
      .node("NonMaxSuppression", {"corners", "scores", "most", "overlap"}, {"selected"})
      .node("Gather", {"selected", "column"}, {"places"}, {test::Attr("axis", 1)})
      .node("Gather", {"corners", "places"}, {"kept"}, {test::Attr("axis", 1)})
      .node("Gather", {"scores", "places"}, {"row"}, {test::Attr("axis", 2)})
      .node("Transpose", {"row"}, {"confidences"},
            {test::Attr("perm", std::vector<int64_t>{0, 2, 1})})
      .node("Concat", {"kept", "confidences"}, {"dets"}, {test::Attr("axis", 2)})
      .node("Unsqueeze", {"places", "zero"}, {"labels"})
      .output("dets", {{1, -1, 5}})
      .output("labels", {{1, -1}}, test::kInt64);
  return test::model_file(graph.bytes());
}

TEST(VisionModelsOfUnknownSizes, AreReadByWhatTheFileDeclares) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("het-suppressed-" + std::to_string(getpid()) + ".onnx");
  std::ofstream(path, std::ios::binary) << suppressed_boxes();
  const std::shared_ptr<Core> process_core = core();
  for (const char* device : {"REF", "CPU", "HETERO:CPU", "MULTI:CPU,REF"}) {
    VisionModelSettings settings;
    settings.model = path.string();
    settings.device = device;
    const auto model = VisionModel::load(*process_core, settings);
    ASSERT_TRUE(model) << device << ": " << model.error().message();
    const std::vector<Port>& outputs = (*model)->compiled().outputs();
    EXPECT_EQ(to_string(outputs[0].desc), "float32[1,?,5]") << device;
    EXPECT_EQ(to_string(outputs[1].desc), "int64[1,?]") << device;
    const auto request = (*model)->compiled().create_infer_request().value();
    const Image image = make_host_image(PixelFormat::BGR, 8, 8).value();
    std::memset(image.planes[0].buffer->host(), 1, image.planes[0].buffer->size_bytes());
    for (int round = 0; round < 2; ++round) {
      ASSERT_TRUE((*model)->set_picture(*request, image, image.full()).ok());
      ASSERT_TRUE(request->infer().ok());
      const auto found = (*model)->results(*request, 8, 8, image.full(), 0, 0.0f);
      ASSERT_TRUE(found) << found.error().message();
      ASSERT_EQ(found->detections.size(), 2u) << device;
      EXPECT_EQ(found->detections[0].label_id, 0);
      EXPECT_FLOAT_EQ(found->detections[0].confidence, 0.9f);
      EXPECT_EQ(found->detections[1].label_id, 2);
      EXPECT_FLOAT_EQ(found->detections[1].x_min, 6);
    }
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace het
