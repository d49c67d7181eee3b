#include <cmath>
#include <limits>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

// 64x32 pixels: maps of 16x8 cells, step 4; two classes.
constexpr size_t kMapCells = 16 * 8;
constexpr size_t kMapCell = 3 * 16 + 5;

DecodeCase make_centernet_case() {
  DecodeCase c(64, 32);
  const auto heat = c.add("center_heatmap", {1, 2, 8, 16});
  heat[kMapCells + kMapCell] = 0.9f;
  heat[kMapCells + kMapCell + 1] = 0.8f;  // a neighbour of the peak
  heat[kMapCell] = 0.7f;                  // the same place, another class
  const auto size = c.add("width_height", {1, 2, 8, 16});
  const auto offset = c.add("regression", {1, 2, 8, 16});
  size[kMapCell] = 4.0f;
  size[kMapCells + kMapCell] = 2.0f;
  offset[kMapCell] = 0.5f;
  offset[kMapCells + kMapCell] = 0.25f;
  return c;
}

TEST(CenterNet, PeaksOfEveryClass) {
  const Results results = make_centernet_case().decode(converter("centernet"));
  ASSERT_EQ(results.detections.size(), 2u);
  EXPECT_EQ(results.detections[0].label_id, 1);
  EXPECT_EQ(results.detections[1].label_id, 0);
  expect_box(results.detections[0], 22 - 8, 13 - 4, 22 + 8, 13 + 4);
}

TEST(CenterNet, HeatMapsOfLogits) {
  DecodeCase c = make_centernet_case();
  for (float& value : c.tensors[0].values<float>()) value = value == 0.9f ? std::log(4.0f) : -9.0f;
  DecoderConfig config = converter("centernet");
  config.sigmoid_activation = true;
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_NEAR(results.detections[0].confidence, 0.8f, 1e-6f);
}

TEST(CenterNet, SurvivesWhatIsNoNumber) {
  DecodeCase c = make_centernet_case();
  for (Tensor& tensor : c.tensors) {
    const auto values = tensor.values<float>();
    std::fill(values.begin(), values.end(), std::numeric_limits<float>::quiet_NaN());
    EXPECT_EQ(c.decode(converter("centernet")).detections.size(), 0u);
  }
}

TEST(CenterNet, RefusesOtherOutputs) {
  DecodeCase c = make_centernet_case();
  c.add("more", {1, 2, 8, 16});
  EXPECT_NE(c.create_error(converter("centernet")), "");
}

}  // namespace
}  // namespace het::test
