#include "inference/model_reading.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "devices/register_devices.h"
#include "tests/decoders/reference_run.h"

namespace het {
namespace {

/// What the shared models' descriptors say, found without them.
class ModelReadings : public testing::Test {
 protected:
  void SetUp() override {
    if (test::places().shared.empty())
      GTEST_SKIP() << "HET_SHARED_DATA names no folder with the shared models";
    core_ = core();
  }

  VisionModelSettings settings(const std::string& name, bool described) const {
    VisionModelSettings settings;
    settings.model = test::places().shared + "/models/onnx/" + name + ".onnx";
    if (described) settings.model_proc = test::places().descriptors + "/" + name + ".json";
    settings.picture_width = name == "yunet_n_dynamic" ? 320 : 0;
    settings.picture_height = settings.picture_width;
    return settings;
  }

  /// The IR of Open Model Zoo with this name, in whichever precision there is.
  static std::string model_of(const std::string& name) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(test::places().shared +
                                                                          "/models/ir/" + name)) {
      if (file.path().filename() == name + ".xml") return file.path().string();
    }
    return name;
  }

  std::shared_ptr<Core> core_;
};

enum class Outcome : uint8_t {
  Right,      ///< as the descriptor, with no doubt
  Guess,      ///< the same results, but pictures are a guess, which is told
  Undecided,  ///< an error that lists what fits
};

TEST_F(ModelReadings, WithoutADescriptor) {
  const std::vector<std::pair<std::string, Outcome>> cases{
      {"yolox_nano", Outcome::Right},
      {"nanodet_m_320", Outcome::Right},
      {"fastestdet_352", Outcome::Right},
      {"yunet_n_320", Outcome::Right},
      {"yunet_n_dynamic", Outcome::Right},
      {"ultraface_rfb_320", Outcome::Right},
      {"ultraface_rfb_640_masked", Outcome::Right},
      {"deimv2_atto_320", Outcome::Right},
      {"mobilenet_v2_qoperator_int8", Outcome::Right},
      {"squeezenet1.1_fp16", Outcome::Guess},
      {"deeplab_v3_257", Outcome::Guess},
      {"road_segmentation_0001", Outcome::Guess},
      {"person_reid_0288_nhwc", Outcome::Guess},
      {"samplenet", Outcome::Undecided},
      {"mnist-8", Outcome::Undecided},
  };
  for (const auto& [name, outcome] : cases) {
    SCOPED_TRACE(name);
    const auto alone = read_vision_model(*core_, settings(name, false));
    ASSERT_TRUE(alone) << alone.error().message();
    const auto described = read_vision_model(*core_, settings(name, true));
    ASSERT_TRUE(described) << described.error().message();
    EXPECT_EQ(!alone->choice, outcome == Outcome::Undecided);
    if (!alone->choice || !described->choice) continue;
    const DecoderConfig& found = alone->choice->configs.front();
    const DecoderConfig& wanted = described->choice->configs.front();
    EXPECT_EQ(found.converter, wanted.converter);
    ASSERT_TRUE(alone->assumed.has_value());
    EXPECT_EQ(alone->assumed->is_guess, outcome == Outcome::Guess) << alone->assumed->reason;
    // Its quantiser saw ImageNet's range; the descriptor has what the reference was recorded with.
    const bool disagrees = name == "mobilenet_v2_qoperator_int8";
    if (outcome == Outcome::Guess || disagrees) continue;
    const PreprocessDesc& pictures = alone->picture.preproc.preprocess;
    const PreprocessDesc& right = described->picture.preproc.preprocess;
    EXPECT_EQ(pictures.color_order, right.color_order);
    EXPECT_EQ(pictures.resize, right.resize);
    EXPECT_EQ(pictures.pad_value, right.pad_value);
    for (size_t c = 0; c < 3; ++c) {
      const auto value = [c](const PreprocessDesc& desc, float level) {
        return (desc.range_low + level * (desc.range_high - desc.range_low) - desc.mean[c]) /
               desc.std[c];
      };
      for (const float level : {0.0f, 1.0f})
        EXPECT_NEAR(value(pictures, level), value(right, level), 1e-4f) << c;
    }
  }
}

TEST_F(ModelReadings, OpenModelZoosNames) {
  for (const std::string name :
       {"landmarks-regression-retail-0009", "license-plate-recognition-barrier-0001",
        "person-attributes-recognition-crossroad-0230", "person-detection-retail-0013",
        "person-vehicle-bike-detection-2000", "text-image-super-resolution-0001",
        "vehicle-attributes-recognition-barrier-0039"}) {
    SCOPED_TRACE(name);
    VisionModelSettings wanted;
    wanted.model = model_of(name);
    const auto alone = read_vision_model(*core_, wanted);
    ASSERT_TRUE(alone) << alone.error().message();
    ASSERT_TRUE(alone->choice) << alone->choice.error().message();
    wanted.model_proc = test::places().descriptors + "/" + name + ".json";
    const auto described = read_vision_model(*core_, wanted);
    ASSERT_TRUE(described && described->choice);
    ASSERT_EQ(alone->choice->configs.size(), described->choice->configs.size());
    for (size_t i = 0; i < alone->choice->configs.size(); ++i) {
      const DecoderConfig& found = alone->choice->configs[i];
      const DecoderConfig& right = described->choice->configs[i];
      EXPECT_EQ(found.converter, right.converter);
      EXPECT_EQ(found.method, right.method);
      EXPECT_EQ(found.labels, right.labels);
      EXPECT_EQ(found.point_names, right.point_names);
    }
    EXPECT_FALSE(alone->assumed->is_guess);
    EXPECT_EQ(alone->picture.preproc.preprocess, described->picture.preproc.preprocess);
  }
}

TEST_F(ModelReadings, WhoPreparesTheModelKnowsItsPictures) {
  VisionModelSettings prepared = settings("mobilenet_v2_qoperator_int8", false);
  prepared.properties = {{"MEAN_VALUES", "[123.675,116.28,103.53]"},
                         {"SCALE_VALUES", "[58.395,57.12,57.375]"},
                         {"REVERSE_INPUT_CHANNELS", "YES"}};
  const auto reading = read_vision_model(*core_, prepared);
  ASSERT_TRUE(reading) << reading.error().message();
  EXPECT_FALSE(reading->assumed.has_value());
  EXPECT_EQ(reading->picture.preproc.preprocess, PreprocessDesc{});
}

}  // namespace
}  // namespace het
