#include <gtest/gtest.h>

#include <filesystem>

#include "inference/decoders/plausibility.h"
#include "inference/model_reading.h"
#include "tests/decoders/reference_run.h"

namespace het::test {
namespace {

/// The file of a described model under the shared models, empty where there is none.
std::string file_of(const Places& at, const std::string& name) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(at.shared + "/models")) {
    const std::filesystem::path& file = entry.path();
    if (file.stem() == name && (file.extension() == ".onnx" || file.extension() == ".xml"))
      return file.string();
  }
  return "";
}

/// What is said of a model's results on a picture that are not plausible.
std::string implausible_on(Core& core, const VisionModelSettings& settings, const Image& image) {
  const auto model = VisionModel::load(core, settings);
  if (!model) return model.error().message();
  const auto request = (*model)->compiled().create_infer_request();
  if (!request) return request.error().message();
  return implausible(run(**model, **request, image), image.width, image.height);
}

/// With its descriptor, and without one where it is read alone and nothing is a guess.
TEST(PlausibleModels, RightModelsAreNotDoubted) {
  const Places at = places();
  if (at.shared.empty()) GTEST_SKIP() << "the shared data is absent (HET_SHARED_DATA)";
  const auto process_core = core();
  const Image image = read_picture(at.shared + "/images/dog_bike_car.jpg");
  ASSERT_GT(image.plane_count, 0);
  size_t described = 0;
  size_t alone = 0;
  for (const auto& entry : std::filesystem::directory_iterator(at.descriptors)) {
    const std::string name = entry.path().stem().string();
    const std::string file = entry.path().extension() == ".json" ? file_of(at, name) : "";
    if (file.empty()) continue;
    SCOPED_TRACE(name);
    VisionModelSettings settings;
    settings.model = file;
    const auto reading = read_vision_model(*process_core, settings);
    if (reading && reading->choice && !(reading->assumed && reading->assumed->is_guess)) {
      EXPECT_EQ(implausible_on(*process_core, settings, image), "");
      ++alone;
    }
    settings.model_proc = entry.path().string();
    EXPECT_EQ(implausible_on(*process_core, settings, image), "");
    ++described;
  }
  EXPECT_GE(described, 25u);
  EXPECT_GE(alone, 18u);
}

}  // namespace
}  // namespace het::test
