#include "inference/motion/light_change.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace het::motion_internal {
namespace {

/// A picture of 20x12 parts in a light of gain, slope and offset; `moved` of 10 parts show
/// something else.
std::vector<LightSample> samples_of(const LightChange& light, unsigned moved) {
  std::mt19937 random(3);
  std::vector<LightSample> samples;
  for (int y = 0; y < 12; ++y) {
    for (int x = 0; x < 20; ++x) {
      LightSample sample;
      sample.x = static_cast<float>(x) / 9.5f - 1.0f;
      sample.y = static_cast<float>(y) / 5.5f - 1.0f;
      sample.before = static_cast<float>(40 + random() % 120);
      sample.now = random() % 10 < moved ? 230.0f : light(sample);
      samples.push_back(sample);
    }
  }
  return samples;
}

TEST(LightChange, IsFoundThoughAThirdOfThePictureMoves) {
  for (const LightChange light :
       {LightChange{1.3f, 0.0f, 0.0f, 0.0f}, LightChange{1.0f, 0.0f, 0.0f, 25.0f},
        LightChange{0.7f, 0.1f, -0.05f, 8.0f}, LightChange{0.6f, 0.0f, 0.0f, -10.0f}}) {
    const std::vector<LightSample> samples = samples_of(light, 3);
    const LightChange found = estimate_light(samples);
    for (const LightSample& sample : samples)
      EXPECT_NEAR(found(sample), light(sample), 1.5f)
          << light.gain << " " << light.offset << " at " << sample.x << "," << sample.y;
  }
}

TEST(LightChange, IsNoneWhereNothingOrTooLittleIsSeen) {
  EXPECT_EQ(estimate_light(samples_of({}, 0)).gain, 1.0f);
  EXPECT_EQ(estimate_light(samples_of({}, 3)).gain, 1.0f) << "what moves is no light";
  std::vector<LightSample> few = samples_of({1.5f, 0.0f, 0.0f, 0.0f}, 0);
  few.resize(kMinLightSamples - 1);
  EXPECT_EQ(estimate_light(few).gain, 1.0f);
  EXPECT_EQ(estimate_light({}).size({}), 0.0f);
}

TEST(LightChange, AnotherPictureIsNoLight) {
  std::vector<LightSample> samples = samples_of({}, 0);
  std::mt19937 random(9);
  for (LightSample& sample : samples) sample.now = static_cast<float>(random() % 255);
  EXPECT_EQ(estimate_light(samples).gain, 1.0f);
  for (LightSample& sample : samples) {
    sample.now = sample.before + static_cast<float>(random() % 40) - 10.0f;
  }
  EXPECT_EQ(estimate_light(samples).gain, 1.0f) << "nothing fits well";
}

}  // namespace
}  // namespace het::motion_internal
