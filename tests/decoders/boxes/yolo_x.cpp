#include <cmath>
#include <limits>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

// 64x32 pixels: 8x4 cells of stride 8, 4x2 of 16, 2x1 of 32; 2 classes.
constexpr int64_t kYoloXRows = 32 + 8 + 2;
constexpr size_t kRowSize = 7;

void set_yolo_x_row(std::span<float> values, size_t row, std::array<float, kRowSize> content) {
  std::copy(content.begin(), content.end(), values.begin() + row * kRowSize);
}

DecodeCase make_yolo_x_case() {
  return DecodeCase(64, 32);
}

TEST(YoloX, PlacesCellsOfEveryStride) {
  DecodeCase c = make_yolo_x_case();
  const auto values = c.add("output", {1, kYoloXRows, 7});
  set_yolo_x_row(values, 8 + 2,
                 {0.5f, 0.5f, 0.0f, std::log(2.0f), 0.9f, 0.2f, 0.8f});  // (2,1), stride 8
  set_yolo_x_row(values, 32 + 8 + 1,
                 {0.0f, 0.25f, 0.0f, 0.0f, 1.0f, 0.7f, 0.1f});  // (1,0), stride 32
  DecoderConfig config = converter("yolo_x");
  config.labels = {"cat", "dog"};
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 2u);
  EXPECT_EQ(results.detections[0].label, "dog");
  EXPECT_EQ(results.detections[0].label_id, 1);
  EXPECT_NEAR(results.detections[0].confidence, 0.72f, 1e-6f);
  expect_box(results.detections[0], 20 - 4, 12 - 8, 20 + 4, 12 + 8);
  EXPECT_EQ(results.detections[1].label, "cat");
  expect_box(results.detections[1], 32 - 16, 8 - 16, 32 + 16, 8 + 16);
}

TEST(YoloX, MapsToTheSourcePicture) {
  DecodeCase c = make_yolo_x_case();
  set_yolo_x_row(c.add("output", {1, kYoloXRows, 7}), 0,
                 {0.5f, 0.5f, 0.0f, 0.0f, 1.0f, 1.0f, 0.0f});
  c.context.transform = {2.0f, 3.0f, 100.0f, -5.0f};
  const Results results = c.decode(converter("yolo_x"));
  ASSERT_EQ(results.detections.size(), 1u);
  expect_box(results.detections[0], 100, -5, 116, 19);
  EXPECT_EQ(results.detections[0].label, "");
}

TEST(YoloX, UserThresholdWinsOverDescriptorOverDefault) {
  DecodeCase c = make_yolo_x_case();
  set_yolo_x_row(c.add("output", {1, kYoloXRows, 7}), 0,
                 {0.5f, 0.5f, 0.0f, 0.0f, 0.4f, 1.0f, 0.0f});
  DecoderConfig config = converter("yolo_x");
  EXPECT_EQ(c.decode(config).detections.size(), 0u);
  config.threshold = 0.3f;
  EXPECT_EQ(c.decode(config).detections.size(), 1u);
  c.context.threshold = 0.45f;
  EXPECT_EQ(c.decode(config).detections.size(), 0u);
}

TEST(YoloX, ReadsItsOwnBatchItem) {
  DecodeCase c = make_yolo_x_case();
  const auto values = c.add("output", {2, kYoloXRows, 7});
  set_yolo_x_row(values, kYoloXRows, {0.5f, 0.5f, 0.0f, 0.0f, 1.0f, 0.0f, 1.0f});
  EXPECT_EQ(c.decode(converter("yolo_x")).detections.size(), 0u);
  c.context.batch_index = 1;
  const Results results = c.decode(converter("yolo_x"));
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_EQ(results.detections[0].label_id, 1);
}

TEST(YoloX, SurvivesWhatIsNoNumber) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity(), 3.4e38f}) {
    DecodeCase c = make_yolo_x_case();
    c.add("output", {1, kYoloXRows, 7}, bad);
    EXPECT_EQ(c.decode(converter("yolo_x")).detections.size(), 0u) << bad;
  }
}

TEST(YoloX, RefusesOtherShapes) {
  const auto error_for = [](const Shape& shape, DecoderConfig config = converter("yolo_x")) {
    DecodeCase c = make_yolo_x_case();
    c.add("output", shape);
    return c.create_error(config);
  };
  EXPECT_NE(error_for({1, 41, 7}).find("'output' is float32[1,41,7]"), std::string::npos);
  EXPECT_NE(error_for({1, kYoloXRows, 5}), "");
  EXPECT_NE(error_for({1, 1, kYoloXRows, 7}), "");
  DecoderConfig labels = converter("yolo_x");
  labels.labels = {"one"};
  EXPECT_NE(error_for({1, kYoloXRows, 7}, labels).find("1 labels for the 2 classes"),
            std::string::npos);
  DecoderConfig layer = converter("yolo_x");
  layer.layer_names = {"nowhere"};
  EXPECT_NE(error_for({1, kYoloXRows, 7}, layer).find("its outputs are 'output'"),
            std::string::npos);
}

}  // namespace
}  // namespace het::test
