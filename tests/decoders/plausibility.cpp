#include "inference/decoders/plausibility.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "inference/base/log.h"

namespace het {
namespace {

constexpr int kWidth = 640;
constexpr int kHeight = 480;

Detection box(float x_min, float y_min, float x_max, float y_max, float confidence) {
  Detection detection;
  detection.x_min = x_min;
  detection.y_min = y_min;
  detection.x_max = x_max;
  detection.y_max = y_max;
  detection.confidence = confidence;
  return detection;
}

std::string told(const std::vector<Detection>& detections) {
  Results results;
  results.detections = detections;
  return implausible(results, kWidth, kHeight);
}

TEST(Plausibility, RightResultsAre) {
  EXPECT_EQ(told({}), "");
  EXPECT_EQ(told({box(0, 0, 640, 480, 1.0f)}), "");
  // At the edges, a far one among others, a small one among others, two points.
  EXPECT_EQ(told({box(-30, -30, 10, 10, 0.5f), box(600, 400, 700, 500, 0.4f),
                  box(5000, 5000, 5010, 5010, 0.9f)}),
            "");
  EXPECT_EQ(told({box(5, 5, 5.5f, 5.5f, 0.5f), box(9, 9, 9, 9, 0.5f)}), "");
  std::vector<Detection> many;
  for (int i = 0; i < 300; ++i)
    many.push_back(box(0, 0, 20, 20, 0.5f + 0.001f * static_cast<float>(i)));
  EXPECT_EQ(told(many), "");
}

TEST(Plausibility, ConfidencesAreBetweenZeroAndOne) {
  for (const float wrong : {1.5f, -0.1f, 665.0f, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_NE(told({box(0, 0, 9, 9, wrong)}).find("confidence"), std::string::npos) << wrong;
    Results results;
    results.classifications.push_back({"kind", "", 0, wrong});
    EXPECT_NE(implausible(results, kWidth, kHeight).find("confidence"), std::string::npos);
  }
}

TEST(Plausibility, BoxesLieInThePicture) {
  const Detection far = box(90000, 90000, 90100, 90100, 0.9f);
  EXPECT_NE(told({far, far, far}).find("far outside"), std::string::npos);
  const float none = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(told({box(none, 0, 1, 1, 0.9f), far, far}).find("far outside"), std::string::npos);
  const Detection point = box(0.2f, 0.1f, 0.9f, 0.8f, 0.9f);
  EXPECT_NE(told({point, point, point}).find("no size"), std::string::npos);
}

TEST(Plausibility, HundredsOfObjectsWithOneScore) {
  const std::vector<Detection> many(534, box(0, 0, 20, 20, 0.73f));
  EXPECT_NE(told(many).find("534 of 534 objects have the score 0.7300"), std::string::npos);
}

TEST(Plausibility, NaNAmongValuesAndOneWarning) {
  const std::vector<Tensor> good{Tensor::from<float>({2}, {1, 2})};
  const std::vector<Tensor> bad{Tensor::from<float>({2}, {1, std::nanf("")})};
  EXPECT_EQ(implausible(good), "");
  EXPECT_NE(implausible(bad).find("NaN"), std::string::npos);
  int lines = 0;
  set_log_sink([&](LogLevel, std::string_view) { ++lines; }, LogLevel::Warning);
  ResultWatch watch;
  watch.look("m", {}, good, kWidth, kHeight);
  EXPECT_EQ(lines, 0);
  for (int i = 0; i < 5; ++i) watch.look("m", {}, bad, kWidth, kHeight);
  set_log_sink({}, LogLevel::Warning);
  EXPECT_EQ(lines, 1);
}

}  // namespace
}  // namespace het
