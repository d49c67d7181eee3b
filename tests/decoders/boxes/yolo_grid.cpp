#include <cmath>
#include <limits>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

// 64x32 pixels, one grid of 2x1 cells, two anchors, two classes: 2 * 7 channels.
DecoderConfig two_anchors(const std::string& name) {
  DecoderConfig config = converter(name);
  config.anchors = {10, 20, 30, 40};
  config.labels = {"cat", "dog"};
  return config;
}

/// Anchor 1 of cell (1, 0): centre 1.25 / 2 * 64 = 40, 0.5 * 32 = 16; size 2 * 30, 40.
const std::array<float, 7> kRow{0.25f, 0.5f, std::log(2.0f), 0.0f, 0.9f, 0.1f, 0.8f};

void expect_the_dog(const Results& results) {
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_EQ(results.detections[0].label, "dog");
  EXPECT_EQ(results.detections[0].label_id, 1);
  EXPECT_NEAR(results.detections[0].confidence, 0.72f, 1e-6f);
  expect_box(results.detections[0], 40 - 30, 16 - 20, 40 + 30, 16 + 20);
}

TEST(YoloGrid, ChannelsBeforeCells) {
  DecodeCase c(64, 32);
  const auto values = c.add("out", {1, 14, 1, 2});
  for (size_t v = 0; v < kRow.size(); ++v) values[(7 + v) * 2 + 1] = kRow[v];
  expect_the_dog(c.decode(two_anchors("yolo_v3")));
  expect_the_dog(c.decode(two_anchors("yolo_v4")));
}

TEST(YoloGrid, ChannelsBehindCells) {
  DecodeCase c(64, 32);
  const auto values = c.add("out", {1, 1, 2, 14});
  std::copy(kRow.begin(), kRow.end(), values.begin() + 14 + 7);
  expect_the_dog(c.decode(two_anchors("yolo_v3")));
}

TEST(YoloGrid, AnchorsAsADimension) {
  DecodeCase before(64, 32);
  const auto planes = before.add("out", {1, 2, 1, 2, 7});
  std::copy(kRow.begin(), kRow.end(), planes.begin() + 14 + 7);
  expect_the_dog(before.decode(two_anchors("yolo_v3")));
  DecodeCase behind(64, 32);
  const auto rows = behind.add("out", {1, 1, 2, 2, 7});
  std::copy(kRow.begin(), kRow.end(), rows.begin() + 14 + 7);
  DecoderConfig config = two_anchors("yolo_v3");
  config.boxes_per_cell = 2;
  expect_the_dog(behind.decode(config));
}

TEST(YoloGrid, FlattenedByRegionYolo) {
  DecodeCase c(64, 32);
  const auto values = c.add("out", {1, 28});
  for (size_t v = 0; v < kRow.size(); ++v) values[(7 + v) * 2 + 1] = kRow[v];
  expect_the_dog(c.decode(two_anchors("yolo_v3")));
}

TEST(YoloGrid, LogitsGetTheirSigmoid) {
  DecodeCase c(64, 32);
  const auto values = c.add("out", {1, 14, 1, 2}, -20.0f);
  const auto logit = [](float p) { return std::log(p / (1.0f - p)); };
  const std::array<float, 7> row{logit(0.25f), 0.0f,        std::log(2.0f), 0.0f,
                                 logit(0.9f),  logit(0.1f), logit(0.8f)};
  for (size_t v = 0; v < row.size(); ++v) values[(7 + v) * 2 + 1] = row[v];
  DecoderConfig config = two_anchors("yolo_v3");
  config.sigmoid_activation = true;
  expect_the_dog(c.decode(config));
}

TEST(YoloGrid, ClassesBySoftmax) {
  DecodeCase c(64, 32);
  const auto values = c.add("out", {1, 14, 1, 2});
  const std::array<float, 7> row{0.25f, 0.5f, std::log(2.0f), 0.0f, 0.9f, 0.0f, std::log(4.0f)};
  for (size_t v = 0; v < row.size(); ++v) values[(7 + v) * 2 + 1] = row[v];
  DecoderConfig config = two_anchors("yolo_v3");
  config.class_softmax = true;
  expect_the_dog(c.decode(config));  // 4 / (1 + 4) * 0.9
}

TEST(YoloGrid, MasksGiveTheCoarsestGridFirst) {
  DecodeCase c(64, 64);
  const auto fine = c.add("fine", {1, 6, 4, 4});
  const auto coarse = c.add("coarse", {1, 6, 2, 2});
  for (size_t v = 4; v < 6; ++v) fine[v * 16 + 5] = coarse[v * 4 + 3] = 1.0f;
  DecoderConfig config = converter("yolo_v3");
  config.anchors = {8, 8, 32, 16};
  config.classes = 1;
  config.masks = {1, 0};
  for (int round = 0; round < 2; ++round) {
    const Results results = c.decode(config);
    ASSERT_EQ(results.detections.size(), 2u);
    expect_box(results.detections[0], 32 - 16, 32 - 8, 32 + 16, 32 + 8);  // coarse, cell (1, 1)
    expect_box(results.detections[1], 16 - 4, 16 - 4, 16 + 4, 16 + 4);    // fine, cell (1, 1)
    config.masks.clear();  // without masks the larger anchors belong to the coarser grid
  }
}

TEST(YoloGrid, Version2HasAnchorsInCells) {
  DecodeCase c(64, 64);
  const auto values = c.add("out", {1, 6, 2, 2});
  const std::array<float, 6> row{0.5f, 0.5f, 0.0f, 0.0f, 1.0f, 1.0f};
  for (size_t v = 0; v < row.size(); ++v) values[v * 4 + 2] = row[v];
  DecoderConfig config = converter("yolo_v2");
  config.anchors = {1.5f, 0.5f};
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 1u);
  expect_box(results.detections[0], 16 - 24, 48 - 8, 16 + 24, 48 + 8);
}

TEST(YoloGrid, Version5StretchesAroundTheSigmoid) {
  DecodeCase c(64, 64);
  const auto values = c.add("out", {1, 1, 2, 2, 6}, -20.0f);
  // Zeros: x = 2 * 0.5 - 0.5, w = (2 * 0.5)^2 * anchor.
  const std::array<float, 6> row{0.0f, 0.0f, 0.0f, 0.0f, 20.0f, 20.0f};
  std::copy(row.begin(), row.end(), values.begin() + 6);
  DecoderConfig config = converter("yolo_v5");
  config.anchors = {20, 10};
  config.sigmoid_activation = true;
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 1u);
  expect_box(results.detections[0], 48 - 10, 16 - 5, 48 + 10, 16 + 5);
}

TEST(YoloGrid, SurvivesWhatIsNoNumber) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 3.4e38f}) {
    DecodeCase c(64, 32);
    c.add("out", {1, 14, 1, 2}, bad);
    EXPECT_EQ(c.decode(two_anchors("yolo_v3")).detections.size(), 0u) << bad;
  }
}

TEST(YoloGrid, SaysWhatDoesNotFit) {
  DecodeCase c(64, 32);
  c.add("out", {1, 14, 1, 2});
  const auto has = [&](const DecoderConfig& config, const std::string& text) {
    EXPECT_NE(c.create_error(config).find(text), std::string::npos) << c.create_error(config);
  };
  DecoderConfig config = converter("yolo_v3");
  has(config, "needs \"anchors\"");
  config = two_anchors("yolo_v3");
  config.masks = {0, 7};
  has(config, "\"masks\" has 2 indices of 2 anchors");
  config = two_anchors("yolo_v3");
  config.classes = 3;
  has(config, "2 anchors of 8 values (3 classes) for each cell, 'out' is float32[1,14,1,2]");
  config = two_anchors("yolo_v3");
  config.cells_x = config.cells_y = 13;
  has(config, "is told 13x13 cells");
}

}  // namespace
}  // namespace het::test
