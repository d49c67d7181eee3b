#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "devices/register_devices.h"
#include "inference/base/log.h"
#include "inference/model_reading.h"

namespace het {
namespace {

namespace fs = std::filesystem;

/// The demo's detector, a YOLOX, with a .modelinfo file beside it.
class ModelinfoReading : public testing::Test {
 protected:
  void SetUp() override {
    const char* const root = std::getenv("HET_SOURCE_ROOT");
    ASSERT_NE(root, nullptr);
    std::string name = fs::temp_directory_path() / "modelinfo_reading_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    settings_.model = folder_ / "scene_detector.onnx";
    fs::create_symlink(fs::path(root) / "pipelines/demo/models/scene_detector.onnx",
                       settings_.model);
    set_log_sink([this](LogLevel, std::string_view text) { warnings_.emplace_back(text); },
                 LogLevel::Warning);
  }
  void TearDown() override {
    set_log_sink({}, LogLevel::Warning);
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  ModelReading read(const std::string& sections) {
    std::ofstream(settings_.model + ".modelinfo") << "[modelinfo]\nversion=1.0\n" << sections;
    auto reading = read_vision_model(*core_, settings_);
    EXPECT_TRUE(reading) << reading.error().message();
    return reading ? std::move(*reading)
                   : ModelReading{.choice = error(StatusCode::NotFound, "not read")};
  }

  std::shared_ptr<Core> core_ = core();
  VisionModelSettings settings_;
  fs::path folder_;
  std::vector<std::string> warnings_;
};

TEST_F(ModelinfoReading, RangesLeaveTheResizeToTheFamily) {
  const std::string ranges = "[images]\ndir=input\nranges=0,1\n";
  const ModelReading family = read(ranges);
  const PreprocessDesc& desc = family.picture.preproc.preprocess;
  EXPECT_EQ(desc.color_order, ColorOrder::RGB);
  EXPECT_EQ(desc.std[1], 255.0f);
  EXPECT_EQ(desc.resize, ResizeMode::LetterboxTopLeft);
  EXPECT_EQ(desc.pad_value[0], 114.0f);
  EXPECT_NE(family.prepared.find("resized as is usual with YOLOX"), std::string::npos)
      << family.prepared;
  EXPECT_FALSE(family.assumed.has_value()) << "nothing is a guess";
  EXPECT_EQ(read(ranges + "resize_type=crop\n").picture.preproc.preprocess.resize,
            ResizeMode::CentralCrop);
  settings_.picture_preparation["resize_type"] = "standard";
  EXPECT_EQ(read(ranges).picture.preproc.preprocess.resize, ResizeMode::Stretch)
      << "the user's word";
  EXPECT_TRUE(warnings_.empty()) << warnings_.front();
}

TEST_F(ModelinfoReading, IdsThatTheOutputsRefuseAreLeftOut) {
  const ModelReading reading = read("[detections]\ndir=output\nid=yolo-26-end2end-out\n");
  ASSERT_TRUE(reading.choice) << reading.choice.error().message();
  EXPECT_EQ(reading.choice->configs.front().converter, "yolo_x");
  ASSERT_FALSE(warnings_.empty());
  EXPECT_NE(warnings_.front().find("scene_detector.onnx.modelinfo beside the file say of the "
                                   "outputs is left out"),
            std::string::npos)
      << warnings_.front();
  EXPECT_EQ(read("[detections]\ndir=output\nid=yolo-v8-out\n").choice->configs.front().converter,
            "yolo_v8")
      << "what the outputs allow";
}

TEST_F(ModelinfoReading, ABrokenFileNeverFails) {
  for (const char* broken :
       {"odd\n", "[images]\ndir=input\nranges=x\n", "[detections]\ndir=output\ndims=1,2\nid=a\n",
        "[none]\ndir=input\nranges=0,1\n", "[none]\ndir=output\nid=yolo-v8-out\n"}) {
    warnings_.clear();
    const ModelReading reading = read(broken);
    ASSERT_TRUE(reading.choice) << broken;
    EXPECT_EQ(reading.choice->configs.front().converter, "yolo_x");
    EXPECT_EQ(reading.picture.preproc.preprocess.color_order, ColorOrder::BGR);
    ASSERT_EQ(warnings_.size(), 1u) << broken;
    EXPECT_NE(warnings_.front().find("modelinfo"), std::string::npos) << warnings_.front();
  }
}

}  // namespace
}  // namespace het
