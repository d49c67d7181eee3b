#include <cmath>
#include <limits>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

// 2x2 cells over 64x32 pixels; 2 classes.
constexpr size_t kPlane = 4;

TEST(FastestDet, DecodesOneCell) {
  DecodeCase c(64, 32);
  const auto values = c.add("758", {1, 7, 2, 2});
  const size_t cell = 3;  // column 1, row 1
  values[0 * kPlane + cell] = 0.81f;
  values[1 * kPlane + cell] = std::atanh(0.5f);
  values[2 * kPlane + cell] = std::atanh(-0.25f);
  values[3 * kPlane + cell] = 0.0f;             // half the width
  values[4 * kPlane + cell] = -std::log(3.0f);  // a quarter of the height
  values[6 * kPlane + cell] = 0.9f;
  const Results results = c.decode(converter("fastestdet"));
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_EQ(results.detections[0].label_id, 1);
  EXPECT_NEAR(results.detections[0].confidence, std::pow(0.81f, 0.6f) * std::pow(0.9f, 0.4f),
              1e-5f);
  expect_box(results.detections[0], 48 - 16, 12 - 4, 48 + 16, 12 + 4);
}

TEST(FastestDet, SurvivesWhatIsNoNumber) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -1.0f}) {
    DecodeCase c(64, 32);
    c.add("758", {1, 7, 2, 2}, bad);
    EXPECT_EQ(c.decode(converter("fastestdet")).detections.size(), 0u) << bad;
  }
}

TEST(FastestDet, RefusesOtherShapes) {
  DecodeCase c(64, 32);
  c.add("758", {1, 5, 2, 2});
  EXPECT_NE(c.create_error(converter("fastestdet")).find("float32[1,5,2,2]"), std::string::npos);
}

}  // namespace
}  // namespace het::test
