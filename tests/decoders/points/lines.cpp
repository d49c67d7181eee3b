#include <gtest/gtest.h>

#include <cmath>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

TEST(LaneRows, MeanOfCellsUnderTheSoftmax) {
  constexpr size_t kLaneCells = 100;
  constexpr size_t kLaneCount = 4;
  DecodeCase c(800, 288);
  const auto values = c.add("output", {1, kLaneCells + 1, 56, kLaneCount});
  const auto at = [&](size_t cell, size_t row_from_bottom, size_t lane) -> float& {
    return values[(cell * 56 + row_from_bottom) * kLaneCount + lane];
  };
  for (size_t row = 0; row < 56; ++row) {
    for (size_t lane = 0; lane < kLaneCount; ++lane) at(kLaneCells, row, lane) = 10.0f;
  }
  // Lane 2 passes the three lowest rows between cells 40 and 41 (numbers 41 and 42).
  for (size_t row = 0; row < 3; ++row) at(40, row, 2) = at(41, row, 2) = 50.0f;
  // Lane 1 has two rows, too few; lane 3 is no number.
  at(7, 0, 1) = at(7, 1, 1) = 50.0f;
  for (size_t row = 0; row < 56; ++row) at(3, row, 3) = kNan;
  const Results results = c.decode(converter("lane_rows"));
  ASSERT_EQ(results.keypoints.size(), 1u);
  const Keypoints& lane = results.keypoints[0];
  EXPECT_EQ(lane.format, "lane");
  ASSERT_EQ(lane.landmarks.points.size(), 3u);
  EXPECT_NEAR(lane.landmarks.points[0].x, 41.5f * 799.0f / 99.0f - 1.0f, 1e-3f);
  EXPECT_NEAR(lane.landmarks.points[0].y, 276 - 1, 1e-3f);
  EXPECT_NEAR(lane.landmarks.points[2].y, 284 - 1, 1e-3f);
  EXPECT_EQ(lane.landmarks.connections.size(), 2u);
  EXPECT_NEAR(lane.confidence, 1.0f, 1e-4f);
}

TEST(LaneRows, WrongShapes) {
  DecodeCase c(800, 288);
  c.add("output", {1, 101, 40, 4});
  EXPECT_FALSE(c.create(converter("lane_rows")));
}

TEST(LaneCurves, FollowTheirFormula) {
  DecodeCase c(640, 360);
  const auto logits = c.add("pred_logits", {1, 3, 2});
  logits[1] = 2.0f;  // a lane; the others are none or no number
  logits[2] = 1.0f;
  logits[5] = kNan;
  const auto curves = c.add("pred_curves", {1, 3, 8});
  const float values[8] = {0.4f, 1.0f, 0.02f, 0.1f, 0.03f, 0.2f, 0.3f, 0.1f};
  std::copy(values, values + 8, curves.begin());
  const Results results = c.decode(converter("lane_curves"));
  ASSERT_EQ(results.keypoints.size(), 1u);
  const Keypoints& lane = results.keypoints[0];
  EXPECT_NEAR(lane.confidence, 1.0f / (1.0f + std::exp(-2.0f)), 1e-5f);
  ASSERT_EQ(lane.landmarks.points.size(), 32u);
  const auto x_at = [&](float y) {
    return values[2] / std::pow(y - values[3], 2.0f) + values[4] / (y - values[3]) + values[5] +
           values[6] * y - values[7];
  };
  EXPECT_NEAR(lane.landmarks.points.front().x, 640 * x_at(0.4f), 1e-2f);
  EXPECT_NEAR(lane.landmarks.points.front().y, 360 * 0.4f, 1e-3f);
  EXPECT_NEAR(lane.landmarks.points.back().x, 640 * x_at(1.0f), 1e-2f);
  DecodeCase wrong(640, 360);
  wrong.add("pred_logits", {1, 3, 2});
  wrong.add("pred_curves", {1, 4, 8});
  EXPECT_FALSE(wrong.create(converter("lane_curves")));
}

TEST(LineSegments, EndsAreDisplacedFromTheMiddle) {
  DecodeCase c(512, 512);
  const auto places = c.add("places", {1, 4, 2});
  const auto scores = c.add("scores", {1, 4});
  const auto ends = c.add("ends", {1, 256, 256, 4});
  places[0] = 20;  // row
  places[1] = 100;
  scores[0] = 0.75f;
  const float displacement[4] = {-15, -5, 15, 6};
  std::copy(displacement, displacement + 4, ends.begin() + 4 * (20 * 256 + 100));
  places[2] = 300;  // outside the map
  scores[1] = 0.9f;
  places[4] = kNan;
  scores[2] = 0.9f;
  places[6] = places[7] = 3;  // too short
  scores[3] = 0.9f;
  const Results results = c.decode(converter("line_segments"));
  ASSERT_EQ(results.keypoints.size(), 1u);
  const Landmarks& line = results.keypoints[0].landmarks;
  EXPECT_FLOAT_EQ(line.points.at(0).x, 170);
  EXPECT_FLOAT_EQ(line.points.at(0).y, 30);
  EXPECT_FLOAT_EQ(line.points.at(1).x, 230);
  EXPECT_FLOAT_EQ(line.points.at(1).y, 52);
  EXPECT_FLOAT_EQ(results.keypoints[0].confidence, 0.75f);
}

}  // namespace
}  // namespace het::test
