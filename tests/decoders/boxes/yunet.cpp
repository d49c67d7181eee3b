#include <cmath>
#include <limits>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

// 32x32 pixels: 16, 4 and 1 cells.
struct Level {
  std::span<float> cls, obj, bbox, kps;
};

DecodeCase make_case(std::vector<Level>& levels, float value = 0.0f) {
  DecodeCase c(32, 32);
  for (const auto& [stride, cells] : {std::pair{8, 16}, std::pair{16, 4}, std::pair{32, 1}}) {
    std::string end = "_";
    end += std::to_string(stride);
    Level level;
    level.cls = c.add("cls" + end, {1, cells, 1}, value);
    level.obj = c.add("obj" + end, {1, cells, 1}, value);
    level.bbox = c.add("bbox" + end, {1, cells, 4}, value);
    level.kps = c.add("kps" + end, {1, cells, 10}, value);
    levels.push_back(level);
  }
  return c;
}

TEST(YuNet, DecodesFaceAndLandmarks) {
  std::vector<Level> levels;
  DecodeCase c = make_case(levels);
  levels[1].cls[3] = 0.81f;  // cell (1,1) of stride 16
  levels[1].obj[3] = 1.5f;   // clamped to 1
  levels[1].bbox[12] = 0.25f;
  levels[1].bbox[14] = std::log(0.5f);
  levels[1].kps[30 + 2 * 2] = 0.5f;  // x of the third point
  c.context.transform = {2.0f, 2.0f, 10.0f, 0.0f};
  DecoderConfig config = converter("yunet");
  config.labels = {"face"};
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 1u);
  const Detection& face = results.detections[0];
  EXPECT_EQ(face.label, "face");
  EXPECT_NEAR(face.confidence, 0.9f, 1e-6f);
  expect_box(face, 10 + 2 * (20 - 4), 2 * (16 - 8), 10 + 2 * (20 + 4), 2 * (16 + 8));
  ASSERT_EQ(face.landmarks.points.size(), 5u);
  EXPECT_EQ(face.landmarks.names[2], "nose_tip");
  EXPECT_NEAR(face.landmarks.points[2].x, 10 + 2 * 24, 1e-4f);
  EXPECT_NEAR(face.landmarks.points[0].x, 10 + 2 * 16, 1e-4f);
  EXPECT_NEAR(face.landmarks.points[2].y, 2 * 16, 1e-4f);
}

TEST(YuNet, LandmarksFollowTheirFaceThroughSuppression) {
  std::vector<Level> levels;
  DecodeCase c = make_case(levels);
  for (const size_t cell : {0u, 5u}) {
    levels[0].cls[cell] = cell == 0 ? 0.7f : 0.9f;
    levels[0].obj[cell] = 1.0f;
    levels[0].kps[cell * 10] = static_cast<float>(cell);
  }
  const Results results = c.decode(converter("yunet"));
  ASSERT_EQ(results.detections.size(), 2u);
  EXPECT_NEAR(results.detections[0].landmarks.points[0].x, (1 + 5) * 8, 1e-4f);
  EXPECT_NEAR(results.detections[1].landmarks.points[0].x, 0, 1e-4f);
}

TEST(YuNet, SurvivesWhatIsNoNumber) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<Level> levels;
    DecodeCase c = make_case(levels, bad);
    EXPECT_EQ(c.decode(converter("yunet")).detections.size(), 0u) << bad;
  }
}

TEST(YuNet, RefusesOtherOutputs) {
  DecodeCase c(32, 32);
  for (const char* name : {"a", "b", "c", "d"}) {
    for (const int64_t cells : {16, 4, 1}) c.add(name + std::to_string(cells), {1, cells, 4});
  }
  EXPECT_NE(c.create_error(converter("yunet")).find("two outputs of 1 column"), std::string::npos);
  std::vector<Level> levels;
  DecodeCase good = make_case(levels);
  DecoderConfig config = converter("yunet");
  config.point_names = {"one"};
  EXPECT_NE(good.create_error(config).find("point_names has 1"), std::string::npos);
}

}  // namespace
}  // namespace het::test
