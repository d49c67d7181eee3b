#include <limits>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

template <size_t N>
void set_row(std::span<float> values, size_t row, const std::array<float, N>& content) {
  std::copy(content.begin(), content.end(), values.begin() + static_cast<std::ptrdiff_t>(row * N));
}

TEST(YoloV10, ReadsWithoutSuppression) {
  for (const char* name : {"yolo_v10", "yolo_v26"}) {
    DecodeCase c(640, 640);
    const auto values = c.add("output0", {1, 300, 6});
    set_row<6>(values, 0, {10, 20, 30, 60, 0.7f, 1});
    set_row<6>(values, 1, {10, 20, 30, 60, 0.9f, 1});
    set_row<6>(values, 2, {10, 20, 30, 60, 0.9f, -1});  // no class
    DecoderConfig config = converter(name);
    config.labels = {"cat", "dog"};
    const Results results = c.decode(config);
    ASSERT_EQ(results.detections.size(), 2u);
    EXPECT_NEAR(results.detections[0].confidence, 0.9f, 1e-6f);
    EXPECT_EQ(results.detections[0].label, "dog");
    expect_box(results.detections[0], 10, 20, 30, 60);
    config.iou_threshold = 0.5f;
    EXPECT_EQ(c.decode(config).detections.size(), 1u);
  }
}

TEST(YoloV10, TurnedBoxesHaveCentres) {
  DecodeCase c(640, 640);
  set_row<7>(c.add("output0", {1, 300, 7}), 4, {100, 50, 40, 20, 0.9f, 0, 0.5f});
  const Results results = c.decode(converter("yolo_v26_obb"));
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_NEAR(results.detections[0].rotation, 0.5f, 1e-6f);
  expect_box(results.detections[0], 80, 40, 120, 60);
}

TEST(YoloV10, Points) {
  DecodeCase c(640, 640);
  set_row<12>(c.add("output0", {1, 300, 12}), 4,
              {10, 20, 30, 60, 0.9f, 0, 11, 21, 0.5f, 12, 22, 0.75f});
  DecoderConfig config = converter("yolo_v26_pose");
  config.point_names = {"head", "tail"};
  config.point_connections = {"head", "tail"};
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 1u);
  const Landmarks& points = results.detections[0].landmarks;
  ASSERT_EQ(points.points.size(), 2u);
  EXPECT_FLOAT_EQ(points.points[1].x, 12.0f);
  EXPECT_FLOAT_EQ(points.points[1].y, 22.0f);
  EXPECT_FLOAT_EQ(points.confidences[1], 0.75f);
  EXPECT_EQ(points.names, config.point_names);
  EXPECT_EQ(points.connections, (std::vector<std::pair<int, int>>{{0, 1}}));
  config.point_connections = {"head", "wing"};
  EXPECT_NE(c.create_error(config).find("'wing'"), std::string::npos);
}

TEST(YoloV10, Masks) {
  DecodeCase c(64, 64);
  set_row<8>(c.add("output0", {1, 300, 8}), 0, {0, 0, 32, 32, 0.9f, 0, 1.0f, -1.0f});
  const auto prototypes = c.add("output1", {1, 2, 16, 16}, 1.0f);
  std::fill(prototypes.begin(), prototypes.begin() + 256, 5.0f);
  const Results results = c.decode(converter("yolo_v26_seg"));
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_EQ(results.detections[0].mask.width, 32);
  EXPECT_NEAR(results.detections[0].mask.values[20], 0.982f, 1e-3f);  // sigmoid(5 - 1)
}

TEST(YoloV10, SurvivesWhatIsNoNumber) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    DecodeCase c(64, 64);
    c.add("output0", {1, 300, 6}, bad);
    EXPECT_EQ(c.decode(converter("yolo_v10")).detections.size(), 0u) << bad;
  }
}

TEST(YoloV10, RefusesOtherRows) {
  DecodeCase c(64, 64);
  c.add("output0", {1, 300, 7});
  EXPECT_NE(
      c.create_error(converter("yolo_v10")).find("reads rows of 6 values, the output's have 7"),
      std::string::npos);
  EXPECT_NE(c.create_error(converter("yolo_v26_pose")), "");
  EXPECT_EQ(c.create_error(converter("yolo_v26_obb")), "");
}

}  // namespace
}  // namespace het::test
