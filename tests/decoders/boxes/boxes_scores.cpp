#include <cmath>
#include <limits>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

DecodeCase one_box(std::array<float, 4> box, std::array<float, 3> scores) {
  DecodeCase c(200, 100);
  std::copy(scores.begin(), scores.end(), c.add("scores", {1, 2, 3}).begin());
  std::copy(box.begin(), box.end(), c.add("boxes", {1, 2, 4}).begin());
  return c;
}

TEST(BoxesScores, ReadsEveryBoxFormat) {
  const DecodeCase c = one_box({0.1f, 0.2f, 0.3f, 0.4f}, {0, 0.9f, 0});
  DecoderConfig config = converter("boxes_scores");
  expect_box(c.decode(config).detections.at(0), 20, 20, 80, 60);
  config.box_format = "xyxy";
  expect_box(c.decode(config).detections.at(0), 20, 20, 60, 40);
  config.box_format = "cxcywh";
  expect_box(c.decode(config).detections.at(0), -10, 0, 50, 40);
  config.box_format = "yxyx";
  EXPECT_NE(c.create_error(config).find("none of xywh, xyxy, cxcywh"), std::string::npos);
}

TEST(BoxesScores, BoxesMayBeInPixels) {
  const DecodeCase c = one_box({10, 20, 50, 40}, {0, 0.9f, 0});
  DecoderConfig config = converter("boxes_scores");
  config.box_format = "xyxy";
  config.unit = "pixels";
  expect_box(c.decode(config).detections.at(0), 10, 20, 50, 40);
}

TEST(BoxesScores, BackgroundIsNoObjectAndABoxMayHaveSeveralLabels) {
  const DecodeCase c = one_box({0, 0, 1, 1}, {0.99f, 0.6f, 0.7f});
  DecoderConfig config = converter("boxes_scores");
  config.background_class = 0;
  config.labels = {"background", "face", "mask"};
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 2u);
  EXPECT_EQ(results.detections[0].label, "mask");
  EXPECT_EQ(results.detections[1].label, "face");
  config.background_class = 3;
  EXPECT_NE(c.create_error(config).find("background_class 3"), std::string::npos);
}

TEST(BoxesScores, SoftmaxOverLogits) {
  const DecodeCase c = one_box({0, 0, 1, 1}, {1000.0f, 1000.0f + std::log(3.0f), 0.0f});
  DecoderConfig config = converter("boxes_scores");
  config.class_softmax = true;
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_EQ(results.detections[0].label_id, 1);
  EXPECT_NEAR(results.detections[0].confidence, 0.75f, 1e-3f);
}

TEST(BoxesScores, SurvivesWhatIsNoNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(
      one_box({0, 0, 1, 1}, {nan, nan, nan}).decode(converter("boxes_scores")).detections.size(),
      0u);
  EXPECT_EQ(
      one_box({nan, 0, 1, 1}, {0, 0.9f, 0}).decode(converter("boxes_scores")).detections.size(),
      0u);
}

TEST(BoxesScores, TellsBoxesFromFourClassesByName) {
  DecodeCase c(100, 100);
  c.add("scores", {1, 1, 4})[3] = 0.9f;
  c.add("boxes", {1, 1, 4})[2] = 1.0f;
  const Results results = c.decode(converter("boxes_scores"));
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_EQ(results.detections[0].label_id, 3);
}

TEST(BoxesScores, RefusesOtherShapes) {
  DecodeCase c(100, 100);
  c.add("scores", {1, 3, 2});
  c.add("boxes", {1, 2, 4});
  EXPECT_NE(c.create_error(converter("boxes_scores")).find("[?,2,?]"), std::string::npos);
  DecodeCase single(100, 100);
  single.add("boxes", {1, 2, 4});
  EXPECT_NE(single.create_error(converter("boxes_scores")).find("two outputs"), std::string::npos);
}

}  // namespace
}  // namespace het::test
