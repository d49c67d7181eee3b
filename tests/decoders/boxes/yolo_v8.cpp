#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

// 64x64 pixels: 8x8 + 4x4 + 2x2 cells.
constexpr size_t kYoloV8Cells = 84;

/// Writes the values of object `n` of an output [1, values, 84].
void set_object(std::span<float> values, size_t n, const std::vector<float>& content) {
  for (size_t v = 0; v < content.size(); ++v) values[v * kYoloV8Cells + n] = content[v];
}

TEST(YoloV8, ReadsColumns) {
  for (const char* name : {"yolo_v8", "yolo_v9", "yolo_v11"}) {
    DecodeCase c(64, 64);
    const auto values = c.add("output0", {1, 6, kYoloV8Cells});
    set_object(values, 3, {30, 20, 10, 8, 0.1f, 0.9f});
    set_object(values, 4, {30, 20, 10, 8, 0.2f, 0.8f});   // the same object again
    set_object(values, 70, {30, 20, 10, 8, 0.6f, 0.1f});  // another class at the same place
    DecoderConfig config = converter(name);
    config.labels = {"cat", "dog"};
    const Results results = c.decode(config);
    ASSERT_EQ(results.detections.size(), 2u);
    EXPECT_EQ(results.detections[0].label, "dog");
    EXPECT_NEAR(results.detections[0].confidence, 0.9f, 1e-6f);
    expect_box(results.detections[0], 25, 16, 35, 24);
    EXPECT_EQ(results.detections[1].label, "cat");
  }
}

TEST(YoloV8, ReadsRowsToo) {
  DecodeCase c(64, 64);
  const auto values = c.add("output0", {1, kYoloV8Cells, 100});  // more values than cells
  const std::array<float, 5> row{30, 20, 10, 8, 0.9f};
  std::copy(row.begin(), row.end(), values.begin() + 5 * 100);
  const Results results = c.decode(converter("yolo_v8"));
  ASSERT_EQ(results.detections.size(), 1u);
  expect_box(results.detections[0], 25, 16, 35, 24);
}

TEST(YoloV8, TurnedBoxes) {
  DecodeCase c(64, 64);
  const auto values = c.add("output0", {1, 6, kYoloV8Cells});
  const float eighth = std::numbers::pi_v<float> / 4.0f;
  set_object(values, 0, {32, 32, 40, 4, 0.9f, eighth});
  set_object(values, 1, {32, 32, 40, 4, 0.8f, -eighth});  // crosses it: another object
  set_object(values, 2, {33, 33, 40, 4, 0.7f, eighth});   // the first again
  DecoderConfig config = converter("yolo_v8_obb");
  config.labels = {"ship"};
  c.context.transform = {2.0f, 2.0f, 10.0f, 0.0f};
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 2u);
  EXPECT_NEAR(results.detections[0].rotation, eighth, 1e-6f);
  EXPECT_NEAR(results.detections[1].rotation, -eighth, 1e-6f);
  expect_box(results.detections[0], 74 - 40, 64 - 4, 74 + 40, 64 + 4);
}

TEST(YoloV8, TurnedBoxesFollowAStretch) {
  DecodeCase c(64, 64);
  // A box that points down (a quarter turn): its width lies along y of the picture.
  set_object(c.add("output0", {1, 6, kYoloV8Cells}), 0,
             {32, 32, 20, 10, 0.9f, std::numbers::pi_v<float> / 2.0f});
  DecoderConfig config = converter("yolo_v11_obb");
  config.labels = {"ship"};
  c.context.transform = {1.0f, 3.0f, 0.0f, 0.0f};
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 1u);
  expect_box(results.detections[0], 32 - 30, 96 - 5, 32 + 30, 96 + 5);
}

TEST(YoloV8, PointsOfABody) {
  DecodeCase c(64, 64);
  const auto values = c.add("output0", {1, 4 + 1 + 51, kYoloV8Cells});
  std::vector<float> person{32, 32, 20, 40, 0.9f};
  for (int p = 0; p < 17; ++p) {
    const auto i = static_cast<float>(p);
    person.insert(person.end(), {20 + i, 10 + i, i / 17.0f});
  }
  person[5 + 3] = std::numeric_limits<float>::quiet_NaN();  // point 1
  set_object(values, 9, person);
  c.context.transform = {2.0f, 2.0f, 0.0f, 0.0f};
  const Results results = c.decode(converter("yolo_v8_pose"));
  ASSERT_EQ(results.detections.size(), 1u);
  const Landmarks& body = results.detections[0].landmarks;
  ASSERT_EQ(body.points.size(), 17u);
  EXPECT_EQ(body.names[0], "nose");
  EXPECT_EQ(body.names[16], "ankle_r");
  EXPECT_EQ(body.connections.size(), 13u);
  EXPECT_FLOAT_EQ(body.points[16].x, 72.0f);
  EXPECT_FLOAT_EQ(body.points[16].y, 52.0f);
  EXPECT_FLOAT_EQ(body.confidences[16], 16.0f / 17.0f);
  EXPECT_EQ(body.confidences[1], 0.0f);
  EXPECT_FLOAT_EQ(body.points[1].x, 64.0f);
}

TEST(YoloV8, PointsWithoutVisibility) {
  DecodeCase c(64, 64);
  set_object(c.add("output0", {1, 9, kYoloV8Cells}), 0, {32, 32, 20, 40, 0.9f, 1, 2, 3, 4});
  const Results results = c.decode(converter("yolo_v11_pose"));
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_EQ(results.detections[0].landmarks.points.size(), 2u);
  EXPECT_TRUE(results.detections[0].landmarks.confidences.empty());
  EXPECT_TRUE(results.detections[0].landmarks.names.empty());
}

TEST(YoloV8, MasksAreWeightedPrototypesWithinTheBox) {
  DecodeCase c(64, 64);
  const auto values = c.add("output0", {1, 4 + 1 + 2, kYoloV8Cells});
  set_object(values, 0, {32, 32, 32, 16, 0.9f, 2.0f, 1.0f});
  const auto prototypes = c.add("output1", {1, 2, 16, 16});
  for (size_t cell = 0; cell < 256; ++cell) {
    prototypes[cell] = cell % 16 < 8 ? 4.0f : -6.0f;  // left and right half
    prototypes[256 + cell] = 2.0f;
  }
  DecoderConfig config = converter("yolo_v8_seg");
  config.labels = {"cat"};
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 1u);
  // 16..48 are columns 4..12, 24..40 rows 6..10 of the prototypes.
  const Mask& mask = results.detections[0].mask;
  ASSERT_EQ(mask.width, 32);  // a place for each pixel of the input
  ASSERT_EQ(mask.height, 16);
  const auto sigmoid = [](float x) { return 1.0f / (1.0f + std::exp(-x)); };
  // Four places a cell, an eighth of one and three from its middle: the halves meet between 15 and
  // 16, and two places on either side lie between the middles of the cells that meet.
  const std::map<size_t, float> between = {{14, 7.5f}, {15, 2.5f}, {16, -2.5f}, {17, -7.5f}};
  for (size_t i = 0; i < mask.values.size(); ++i) {
    const size_t column = i % 32;
    const auto found = between.find(column);
    const float logit = found != between.end() ? found->second : column < 16 ? 10.0f : -10.0f;
    EXPECT_NEAR(mask.values[i], sigmoid(logit), 1e-5f) << i;
  }
}

TEST(YoloV8, AnObjectWithoutAPlaceInItsMaskIsNone) {
  DecodeCase c(64, 64);
  const auto values = c.add("output0", {1, 4 + 1 + 1, kYoloV8Cells});
  set_object(values, 0, {16, 16, 16, 16, 0.9f, 1.0f});
  set_object(values, 1, {48, 48, 16, 16, 0.8f, -1.0f});
  c.add("output1", {1, 1, 16, 16}, 3.0f);
  const Results results = c.decode(converter("yolo_v8_seg"));
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_FLOAT_EQ(results.detections[0].confidence, 0.9f);
}

TEST(YoloV8, MasksOfBoxesThatLeaveThePicture) {
  DecodeCase c(64, 64);
  const auto values = c.add("output0", {1, 6, kYoloV8Cells});
  set_object(values, 0, {0, 0, 400, 400, 0.9f, 1.0f});
  set_object(values, 1, {1000, 1000, 10, 10, 0.8f, 1.0f});
  set_object(values, 2, {30, 30, -5, 10, 0.7f, 1.0f});
  set_object(values, 3, {0, 0, 3e38f, 3e38f, 0.6f, 1.0f});
  c.add("output1", {1, 1, 16, 16}, 3.0f);
  const Results results = c.decode(converter("yolo_v11_seg"));
  // One lies outside, one has no area; the others end where the picture does.
  ASSERT_EQ(results.detections.size(), 2u);
  for (const Detection& detection : results.detections) {
    EXPECT_EQ(detection.mask.values.size(), 64u * 64u);
    EXPECT_EQ(detection.x_min, 0.0f);
    EXPECT_EQ(detection.y_max, 64.0f);
  }
}

TEST(YoloV8, SurvivesWhatIsNoNumber) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    DecodeCase c(64, 64);
    c.add("output0", {1, 8, kYoloV8Cells}, bad);
    c.add("output1", {1, 2, 16, 16}, bad);
    EXPECT_EQ(c.decode(converter("yolo_v8_seg")).detections.size(), 0u) << bad;
    c.outputs.pop_back();
    c.tensors.pop_back();
    for (const char* name : {"yolo_v8", "yolo_v8_obb", "yolo_v8_pose"})
      EXPECT_EQ(c.decode(converter(name)).detections.size(), 0u) << name << bad;
  }
}

TEST(YoloV8, SaysWhatDoesNotFit) {
  DecodeCase c(64, 64);
  c.add("output0", {1, 4, kYoloV8Cells});
  EXPECT_NE(c.create_error(converter("yolo_v8")).find("finds no classes in rows of 4 values"),
            std::string::npos);
  EXPECT_NE(c.create_error(converter("yolo_v8_seg")).find("mask prototypes"), std::string::npos);
  DecoderConfig labels = converter("yolo_v8");
  DecodeCase three(64, 64);
  three.add("output0", {1, 7, kYoloV8Cells});
  labels.labels = {"one"};
  EXPECT_NE(three.create_error(labels).find("1 labels for the 3 classes"), std::string::npos);
  DecoderConfig points = converter("yolo_v8_pose");
  points.point_names = {"tip"};
  DecodeCase pose(64, 64);
  pose.add("output0", {1, 4 + 1 + 4, kYoloV8Cells});
  EXPECT_NE(pose.create_error(points).find("4 values for points"), std::string::npos);
}

}  // namespace
}  // namespace het::test
