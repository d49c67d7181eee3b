#include <limits>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

// 80x40 pixels, a map of 20x10 cells.
DecodeCase make_heatmap_case() {
  DecodeCase c(80, 40);
  c.add("map", {1, 1, 10, 20});
  return c;
}

void fill(std::span<float> map, size_t x_min, size_t y_min, size_t x_max, size_t y_max,
          float value) {
  for (size_t y = y_min; y <= y_max; ++y) {
    for (size_t x = x_min; x <= x_max; ++x) map[y * 20 + x] = value;
  }
}

TEST(HeatmapBoxes, ConnectedPlaces) {
  DecodeCase c = make_heatmap_case();
  const auto map = c.tensors[0].values<float>();
  fill(map, 2, 3, 5, 4, 0.8f);
  fill(map, 6, 5, 7, 6, 0.6f);  // touches the first at a corner: one place
  fill(map, 10, 0, 12, 2, 0.9f);
  fill(map, 15, 0, 17, 2, 0.4f);  // hot, but its mean is below the threshold
  fill(map, 15, 5, 15, 5, 0.9f);  // 4x4 pixels: too small
  const Results results = c.decode(converter("heatmap_boxes"));
  ASSERT_EQ(results.detections.size(), 2u);
  expect_box(results.detections[0], 40, 0, 52, 12);
  EXPECT_NEAR(results.detections[0].confidence, 0.9f, 1e-6f);
  expect_box(results.detections[1], 8, 12, 32, 28);
  EXPECT_NEAR(results.detections[1].confidence, (8 * 0.8f + 4 * 0.6f) / 12, 1e-6f);
}

TEST(HeatmapBoxes, LimitsOfTheDescriptor) {
  DecodeCase c = make_heatmap_case();
  const auto map = c.tensors[0].values<float>();
  fill(map, 0, 0, 19, 9, 0.4f);
  fill(map, 4, 4, 4, 4, 0.9f);
  DecoderConfig config = converter("heatmap_boxes");
  config.binarize_threshold = 0.5f;
  EXPECT_EQ(c.decode(config).detections.size(), 0u);
  config.minimum_side = 4.0f;
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 1u);
  expect_box(results.detections[0], 16, 16, 20, 20);
}

TEST(HeatmapBoxes, SurvivesWhatIsNoNumber) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    DecodeCase c = make_heatmap_case();
    const auto map = c.tensors[0].values<float>();
    fill(map, 0, 0, 19, 9, bad);
    EXPECT_EQ(c.decode(converter("heatmap_boxes")).detections.size(), 0u) << bad;
  }
}

TEST(HeatmapBoxes, RefusesOtherShapes) {
  DecodeCase c(80, 40);
  c.add("map", {1, 10, 20});
  EXPECT_NE(c.create_error(converter("heatmap_boxes")), "");
}

}  // namespace
}  // namespace het::test
