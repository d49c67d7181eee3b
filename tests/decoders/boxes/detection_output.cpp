#include <limits>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

void set_detection_row(std::span<float> values, size_t row, std::array<float, 7> content) {
  std::copy(content.begin(), content.end(), values.begin() + row * 7);
}

TEST(DetectionOutput, ReadsRowsUpToTheFirstNegativeImage) {
  DecodeCase c(300, 200);
  const auto values = c.add("detection_out", {1, 1, 5, 7});
  set_detection_row(values, 0, {0, 1, 0.6f, 0.1f, 0.1f, 0.5f, 0.5f});
  set_detection_row(values, 1, {0, 2, 0.9f, 0.0f, 0.0f, 1.0f, 1.0f});
  set_detection_row(values, 2, {0, 1, 0.4f, 0.0f, 0.0f, 1.0f, 1.0f});
  set_detection_row(values, 3, {-1, 0, 0, 0, 0, 0, 0});
  set_detection_row(values, 4, {0, 1, 0.99f, 0.0f, 0.0f, 1.0f, 1.0f});
  DecoderConfig config = converter("detection_output");
  config.labels = {"background", "face"};
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 2u);
  EXPECT_EQ(results.detections[0].label_id, 2);
  EXPECT_EQ(results.detections[0].label, "");  // no label for it
  EXPECT_EQ(results.detections[1].label, "face");
  expect_box(results.detections[1], 30, 20, 150, 100);
}

TEST(DetectionOutput, ImageIdIsTheBatchItem) {
  DecodeCase c(300, 200);
  const auto values = c.add("detection_out", {1, 1, 2, 7});
  set_detection_row(values, 0, {0, 1, 0.9f, 0, 0, 1, 1});
  set_detection_row(values, 1, {1, 5, 0.9f, 0, 0, 1, 1});
  c.context.batch_index = 1;
  const Results results = c.decode(converter("detection_output"));
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_EQ(results.detections[0].label_id, 5);
}

TEST(DetectionOutput, SurvivesWhatIsNoNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  DecodeCase c(300, 200);
  const auto values = c.add("detection_out", {1, 1, 4, 7});
  set_detection_row(values, 0, {0, nan, 0.9f, 0, 0, 1, 1});
  set_detection_row(values, 1, {0, 1e30f, 0.9f, 0, 0, 1, 1});
  set_detection_row(values, 2, {0, 1, nan, 0, 0, 1, 1});
  set_detection_row(values, 3, {nan, 1, 0.9f, 0, 0, 1, 1});
  EXPECT_EQ(c.decode(converter("detection_output")).detections.size(), 0u);
}

TEST(DetectionOutput, RefusesOtherShapes) {
  DecodeCase c(300, 200);
  c.add("detection_out", {1, 1, 5, 6});
  EXPECT_NE(c.create_error(converter("detection_output")).find("[1,1,?,7]"), std::string::npos);
}

}  // namespace
}  // namespace het::test
