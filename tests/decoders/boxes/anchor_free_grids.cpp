#include <gtest/gtest.h>

#include <cmath>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

constexpr int64_t kPlusCells = 64 + 16 + 4 + 1;  // of 64x64 pixels, strides 8 to 64
constexpr int64_t kPlusColumns = 2 + 32;

/// Logits of one distance distribution whose mean is `bins`: all weight on one bin.
void put_distance(float* logits, int bin) {
  logits[bin] = 50.0f;
}

TEST(NanoDetPlus, DistancesAreFromTheCornerOfTheCell) {
  DecodeCase c(64, 64);
  const auto values = c.add("output", {1, kPlusCells, kPlusColumns});
  // Cell (1, 2) of stride 16: the 10th behind 64 of stride 8.
  float* row = values.data() + (64 + 2 * 4 + 1) * kPlusColumns;
  row[1] = 0.75f;
  for (int side = 0; side < 4; ++side) put_distance(row + 2 + 8 * side, side + 1);
  values[0] = kNan;
  const Results results = c.decode(converter("nanodet_plus"));
  ASSERT_EQ(results.detections.size(), 1u);
  const Detection& d = results.detections[0];
  EXPECT_EQ(d.label_id, 1);
  EXPECT_NEAR(d.x_min, 16 - 16, 1e-3f);
  EXPECT_NEAR(d.y_min, 32 - 32, 1e-3f);
  EXPECT_NEAR(d.x_max, 16 + 48, 1e-3f);
  EXPECT_NEAR(d.y_max, 32 + 64, 1e-3f);
}

TEST(NanoDetPlus, WrongShapes) {
  DecodeCase cells(64, 64);
  cells.add("output", {1, kPlusCells + 1, kPlusColumns});
  EXPECT_FALSE(cells.create(converter("nanodet_plus")));
  DecodeCase columns(64, 64);
  columns.add("output", {1, kPlusCells, 32});
  EXPECT_FALSE(columns.create(converter("nanodet_plus")));
}

TEST(NanoDet, EightOutputsHaveAFourthStride) {
  DecodeCase c(64, 64);
  for (const int64_t cells : {64, 16, 4, 1}) {
    c.add("cls" + std::to_string(cells), {1, cells, 3});
    c.add("reg" + std::to_string(cells), {1, cells, 32});
  }
  c.tensors[6].values<float>()[2] = 0.75f;  // the only cell of stride 64
  for (int side = 0; side < 4; ++side)
    put_distance(c.tensors[7].values<float>().data() + 8 * side, 1);
  const Results found = c.decode(converter("nanodet"));
  ASSERT_EQ(found.detections.size(), 1u);
  EXPECT_EQ(found.detections[0].label_id, 2);
  expect_box(found.detections[0], 32 - 64, 32 - 64, 32 + 64, 32 + 64);
}

/// Yolo-FastestV2's formulas once more, for one anchor.
std::array<float, 4> fastest_box(const float* t, float x, float y, float stride, float width,
                                 float height) {
  const float cx = (t[0] * 2 - 0.5f + x) * stride;
  const float cy = (t[1] * 2 - 0.5f + y) * stride;
  const float w = std::pow(t[2] * 2, 2.0f) * width;
  const float h = std::pow(t[3] * 2, 2.0f) * height;
  return {cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2};
}

TEST(YoloFastestV2, AnchorsShareTheClasses) {
  for (const bool batched : {true, false}) {
    DecodeCase c(352, 352);
    const Shape coarse = batched ? Shape{1, 11, 11, 17} : Shape{11, 11, 17};
    const Shape fine = batched ? Shape{1, 22, 22, 17} : Shape{22, 22, 17};
    c.add("coarse", coarse);
    c.add("fine", fine);
    float* place = c.tensors[0].values<float>().data() + (3 * 11 + 5) * 17;
    const float t[4] = {0.6f, 0.4f, 0.5f, 0.55f};
    std::copy(t, t + 4, place + 4);  // the second anchor
    place[12 + 1] = 0.9f;
    place[12 + 2] = kNan;
    place[15 + 1] = 0.8f;
    const Results results = c.decode(converter("yolo_fastestv2"));
    ASSERT_EQ(results.detections.size(), 1u);
    const auto wanted = fastest_box(t, 5, 3, 32, 131.57f, 214.55f);
    EXPECT_FLOAT_EQ(results.detections[0].x_min, wanted[0]);
    EXPECT_FLOAT_EQ(results.detections[0].y_max, wanted[3]);
    EXPECT_FLOAT_EQ(results.detections[0].confidence, 0.72f);
    EXPECT_EQ(results.detections[0].label_id, 1);
  }
}

TEST(YoloFastestV2, WrongShapes) {
  DecodeCase one(352, 352);
  one.add("map", {1, 11, 11, 95});
  EXPECT_FALSE(one.create(converter("yolo_fastestv2")));  // anchors are for two
  DecodeCase narrow(352, 352);
  narrow.add("a", {1, 22, 22, 15});
  narrow.add("b", {1, 11, 11, 15});
  EXPECT_FALSE(narrow.create(converter("yolo_fastestv2")));
}

}  // namespace
}  // namespace het::test
