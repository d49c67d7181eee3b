#include <cmath>
#include <random>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

struct BlazeRows {
  std::span<float> values, logits;
};

DecodeCase blaze_case(int size, int64_t rows, int64_t columns, BlazeRows& filled, float value = 0,
                      int64_t batch = 1) {
  DecodeCase c(size, size);
  c.inputs[0].desc.shape[0] = batch;
  filled.logits = c.add("classificators", {batch, rows, 1}, value == 0 ? -50.0f : value);
  filled.values = c.add("regressors", {batch, rows, columns}, value);
  return c;
}

/// Centres as shares of the picture, as MediaPipe's SsdAnchorsCalculator lists them with a fixed
/// size: layers of one stride together, `anchors` for each of them.
std::vector<std::pair<double, double>> listed_anchors(const std::vector<int>& strides, int size,
                                                      int anchors) {
  std::vector<std::pair<double, double>> centres;
  for (size_t layer = 0; layer < strides.size();) {
    size_t last = layer;
    int of_cell = 0;
    while (last < strides.size() && strides[last] == strides[layer]) {
      of_cell += anchors;
      ++last;
    }
    const int cells = static_cast<int>(std::ceil(1.0 * size / strides[layer]));
    for (int y = 0; y < cells; ++y) {
      for (int x = 0; x < cells; ++x)
        centres.insert(centres.end(), static_cast<size_t>(of_cell),
                       {(x + 0.5) / cells, (y + 0.5) / cells});
    }
    layer = last;
  }
  return centres;
}

struct BlazeModel {
  int size;
  int64_t columns;
  std::vector<int> strides;
  int anchors;
  size_t rows;
};

const BlazeModel kBlazeModels[] = {{128, 16, {8, 16, 16, 16}, 2, 896},
                                   {192, 16, {4}, 1, 2304},
                                   {256, 16, {16, 32, 32, 32}, 2, 896},
                                   {192, 18, {8, 16, 16, 16}, 2, 2016},
                                   {256, 18, {8, 16, 32, 32, 32}, 2, 2944}};

TEST(BlazeFace, EveryModelOfMediaPipeHasItsAnchors) {
  for (const BlazeModel& model : kBlazeModels) {
    const auto centres = listed_anchors(model.strides, model.size, model.anchors);
    ASSERT_EQ(centres.size(), model.rows);
    BlazeRows rows;
    DecodeCase c = blaze_case(model.size, static_cast<int64_t>(model.rows), model.columns, rows);
    const double size = model.size;
    for (const size_t row :
         {size_t{0}, size_t{1}, model.rows / 3, model.rows / 2 + 1, model.rows - 1}) {
      std::ranges::fill(rows.logits, -50.0f);
      rows.logits[row] = 2.0f;
      float* value = &rows.values[row * static_cast<size_t>(model.columns)];
      for (int64_t i = 0; i < model.columns; ++i) value[i] = static_cast<float>(i) - 3.0f;
      value[2] = 20.0f;
      value[3] = 30.0f;
      const Results results = c.decode(converter("blazeface"));
      ASSERT_EQ(results.detections.size(), 1u);
      const Detection& found = results.detections[0];
      EXPECT_NEAR(found.confidence, 1.0 / (1.0 + std::exp(-2.0)), 1e-6);
      // As shares of the picture, x_scale and the others being its size.
      const double x = value[0] / size + centres[row].first;
      const double y = value[1] / size + centres[row].second;
      EXPECT_NEAR(found.x_min, (x - 20 / size / 2) * size, 1e-3);
      EXPECT_NEAR(found.y_max, (y + 30 / size / 2) * size, 1e-3);
      const size_t points = static_cast<size_t>(model.columns - 4) / 2;
      ASSERT_EQ(found.landmarks.points.size(), points);
      EXPECT_EQ(found.landmarks.names.size(), points);
      EXPECT_EQ(found.landmarks.names[0], points == 7 ? "wrist" : "right_eye");
      EXPECT_NEAR(found.landmarks.points[points - 1].y,
                  (value[model.columns - 1] / size + centres[row].second) * size, 1e-3);
    }
  }
}

TEST(BlazeFace, WhatOverlapsTheBestIsAveragedByItsScore) {
  BlazeRows rows;
  DecodeCase c = blaze_case(128, 896, 16, rows);
  const float logits[] = {2.0f, 1.0f, 0.5f};
  for (size_t row = 0; row < 3; ++row) {
    rows.logits[row] = logits[row];
    float* value = &rows.values[16 * row];
    value[0] = row == 2 ? 8.0f : 30.0f + 2.0f * static_cast<float>(row);  // the third is elsewhere
    value[1] = row == 2 ? 100.0f : 40.0f;
    value[2] = value[3] = 20.0f;
    value[4] = static_cast<float>(row);
  }
  const Results results = c.decode(converter("blazeface"));
  ASSERT_EQ(results.detections.size(), 2u);
  const double a = 1 / (1 + std::exp(-2.0));
  const double b = 1 / (1 + std::exp(-1.0));
  const double x = (a * (4 + 30) + b * (4 + 32)) / (a + b);
  const Detection& first = results.detections[0];
  EXPECT_NEAR(first.confidence, a, 1e-6);
  EXPECT_NEAR(first.x_min, x - 10, 1e-3);
  EXPECT_NEAR(first.x_max, x + 10, 1e-3);
  EXPECT_NEAR(first.landmarks.points[0].x, (a * 4 + b * 5) / (a + b), 1e-3);
  EXPECT_NEAR(results.detections[1].x_min, 12 + 8 - 10, 1e-3);
}

TEST(BlazeFace, TheSecondPictureOfABatchAndClippedLogits) {
  BlazeRows rows;
  DecodeCase c = blaze_case(128, 896, 16, rows, 0, 2);
  rows.logits[896 + 895] = 1e30f;
  rows.values[16 * (896 + 895) + 2] = 16.0f;
  rows.values[16 * (896 + 895) + 3] = 16.0f;
  EXPECT_TRUE(c.decode(converter("blazeface")).detections.empty());
  c.context.batch_index = 1;
  const Results results = c.decode(converter("blazeface"));
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_FLOAT_EQ(results.detections[0].confidence, 1.0f);
  expect_box(results.detections[0], 120 - 8, 120 - 8, 120 + 8, 120 + 8);
}

TEST(BlazeFace, SurvivesWhatIsNoNumberAndBoxesWithoutSize) {
  for (const float bad : {kNan, kInf, -kInf}) {
    BlazeRows rows;
    EXPECT_TRUE(
        blaze_case(128, 896, 16, rows, bad).decode(converter("blazeface")).detections.empty());
  }
  BlazeRows rows;
  DecodeCase c = blaze_case(128, 896, 16, rows);
  rows.logits[0] = rows.logits[1] = 3.0f;
  rows.values[5] = kNan;
  EXPECT_EQ(c.decode(converter("blazeface")).detections.size(), 2u);
}

TEST(BlazeFace, RefusesOtherOutputs) {
  BlazeRows rows;
  EXPECT_NE(blaze_case(128, 897, 16, rows).create_error(converter("blazeface")).find("897 rows"),
            std::string::npos);
  EXPECT_NE(blaze_case(160, 896, 16, rows).create_error(converter("blazeface")), "");
  EXPECT_NE(blaze_case(128, 896, 17, rows).create_error(converter("blazeface")), "");
  DecodeCase more = blaze_case(128, 896, 16, rows);
  more.add("third", {1, 896, 1});
  EXPECT_NE(more.create_error(converter("blazeface")).find("[batch,N,4+2P]"), std::string::npos);
  DecodeCase own = blaze_case(64, 8 * 8 * 6, 16, rows);
  EXPECT_NE(own.create_error(converter("blazeface")), "");
  DecoderConfig config = converter("blazeface");
  config.strides = {8, 8, 8};
  EXPECT_EQ(own.create_error(config), "");
}

}  // namespace
}  // namespace het::test
