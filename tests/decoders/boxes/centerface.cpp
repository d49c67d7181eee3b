#include <cmath>
#include <limits>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

// 64x32 pixels: maps of 16x8 cells, step 4.
constexpr size_t kCells = 16 * 8;
constexpr size_t kCell = 3 * 16 + 5;

DecodeCase make_case() {
  DecodeCase c(64, 32);
  c.add("537", {1, 1, 8, 16})[kCell] = 0.9f;
  const auto scale = c.add("538", {1, 2, 8, 16});
  scale[kCell] = std::log(3.0f);           // height 12
  scale[kCells + kCell] = std::log(2.0f);  // width 8
  const auto offset = c.add("539", {1, 2, 8, 16});
  offset[kCell] = 0.25f;          // y
  offset[kCells + kCell] = 0.5f;  // x
  const auto points = c.add("540", {1, 10, 8, 16});
  points[2 * kCells + kCell] = 0.75f;  // y of point 1
  points[3 * kCells + kCell] = 0.5f;   // x of point 1
  return c;
}

TEST(CenterFace, OneFace) {
  DecodeCase c = make_case();
  const Results results = c.decode(converter("centerface"));
  ASSERT_EQ(results.detections.size(), 1u);
  // Centre ((5 + 0.5 + 0.5) * 4, (3 + 0.25 + 0.5) * 4).
  expect_box(results.detections[0], 24 - 4, 15 - 6, 24 + 4, 15 + 6);
  EXPECT_NEAR(results.detections[0].confidence, 0.9f, 1e-6f);
  const Landmarks& points = results.detections[0].landmarks;
  ASSERT_EQ(points.points.size(), 5u);
  EXPECT_EQ(points.names[1], "left_eye");
  EXPECT_NEAR(points.points[1].x, 24.0f, 1e-4f);
  EXPECT_NEAR(points.points[1].y, 18.0f, 1e-4f);
}

TEST(CenterFace, NamesTellTheMapsApart) {
  DecodeCase c = make_case();
  c.outputs[1].name = "offset";  // now the first map of two channels is the offset
  c.outputs[2].name = "scale";
  std::swap(c.tensors[1], c.tensors[2]);
  const Results results = c.decode(converter("centerface"));
  ASSERT_EQ(results.detections.size(), 1u);
  expect_box(results.detections[0], 24 - 4, 15 - 6, 24 + 4, 15 + 6);
}

TEST(CenterFace, SurvivesWhatIsNoNumber) {
  DecodeCase c = make_case();
  for (size_t i = 0; i < 3; ++i) {
    const auto values = c.tensors[i].values<float>();
    std::fill(values.begin(), values.end(), std::numeric_limits<float>::quiet_NaN());
    EXPECT_EQ(c.decode(converter("centerface")).detections.size(), 0u);
    c = make_case();
  }
}

TEST(CenterFace, RefusesOtherOutputs) {
  DecodeCase c = make_case();
  c.outputs.pop_back();
  EXPECT_NE(c.create_error(converter("centerface")).find("landmarks [batch,10,rows,columns]"),
            std::string::npos);
}

}  // namespace
}  // namespace het::test
