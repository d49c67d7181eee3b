#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "devices/register_devices.h"
#include "inference/decoders/model_proc.h"
#include "inference/vision_model.h"

namespace het {
namespace {

TEST(Descriptors, AllOfThemParse) {
  const char* root = std::getenv("HET_SOURCE_ROOT");
  if (root == nullptr) GTEST_SKIP() << "HET_SOURCE_ROOT does not name the source tree";
  size_t parsed = 0;
  for (const char* folder : {"pipelines/models", "pipelines/demo/models"}) {
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(root) / folder)) {
      if (entry.path().extension() != ".json") continue;
      const auto model_proc = read_model_proc(entry.path().string());
      EXPECT_TRUE(model_proc) << model_proc.error().message();
      ++parsed;
    }
  }
  EXPECT_GE(parsed, 30u);
}

/// Every descriptor fits its model: the model loads with it and its decoder takes the outputs.
TEST(Descriptors, EachFitsItsModel) {
  const char* root = std::getenv("HET_SOURCE_ROOT");
  const char* shared = std::getenv("HET_SHARED_DATA");
  ASSERT_NE(root, nullptr) << "HET_SOURCE_ROOT does not name the source tree";
  if (shared == nullptr || !std::filesystem::is_directory(std::string(shared) + "/models/onnx"))
    GTEST_SKIP() << "the shared data is absent";
  size_t loaded = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(root) / "pipelines/models")) {
    if (entry.path().extension() != ".json") continue;
    VisionModelSettings settings;
    settings.model = std::string(shared) + "/models/onnx/" + entry.path().stem().string() + ".onnx";
    settings.model_proc = entry.path().string();
    settings.device = "REF";
    if (!std::filesystem::exists(settings.model)) continue;
    const auto model = VisionModel::load(*core(), settings);
    EXPECT_TRUE(model) << entry.path() << ": " << model.error().message();
    ++loaded;
  }
  EXPECT_GE(loaded, 11u);
}

}  // namespace
}  // namespace het
