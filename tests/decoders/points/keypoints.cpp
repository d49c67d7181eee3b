#include <cmath>
#include <limits>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

void expect_point(const Keypoints& found, size_t index, float x, float y, float confidence) {
  EXPECT_NEAR(found.landmarks.points.at(index).x, x, 1e-3f) << index;
  EXPECT_NEAR(found.landmarks.points.at(index).y, y, 1e-3f) << index;
  EXPECT_NEAR(found.landmarks.confidences.at(index), confidence, 1e-5f) << index;
}

TEST(Landmarks, AreSharesOfTheModelsPicture) {
  DecodeCase c(48, 48);
  const auto values = c.add("95", {1, 10, 1, 1});
  values[0] = 0.5f;
  values[1] = 0.25f;
  values[2] = kNan;
  // The 48x48 input shows 96x144 source pixels from (10, 20) on.
  c.context.transform = {2.0f, 3.0f, 10.0f, 20.0f};
  DecoderConfig config = converter("landmarks");
  config.point_names = {"eye_l", "eye_r", "nose", "mouth_l", "mouth_r"};
  config.point_connections = {"eye_l", "eye_r"};
  const Results results = c.decode(config);
  ASSERT_EQ(results.keypoints.size(), 1u);
  const Keypoints& found = results.keypoints[0];
  EXPECT_EQ(found.format, "landmark_points");
  EXPECT_EQ(found.layer, "95");
  EXPECT_EQ(found.landmarks.names, config.point_names);
  EXPECT_EQ(found.landmarks.connections, (std::vector<std::pair<int, int>>{{0, 1}}));
  expect_point(found, 0, 0.5f * 48 * 2 + 10, 0.25f * 48 * 3 + 20, 1.0f);
  expect_point(found, 1, -1.0f, -1.0f, 0.0f);
}

TEST(Landmarks, EveryOutputIsASetOfItsOwn) {
  DecodeCase c(80, 160);
  c.add("456", {1, 2, 1, 1}, 0.5f);
  c.add("459", {1, 1, 2}, 0.25f);
  const Results results = c.decode(converter("landmarks"));
  ASSERT_EQ(results.keypoints.size(), 2u);
  expect_point(results.keypoints[0], 0, 40.0f, 80.0f, 1.0f);
  expect_point(results.keypoints[1], 0, 20.0f, 40.0f, 1.0f);
}

TEST(Landmarks, ChecksNamesAndShapes) {
  DecodeCase odd(8, 8);
  odd.add("points", {1, 5});
  EXPECT_NE(odd.create_error(converter("landmarks")).find("[1,5]"), std::string::npos);
  DecodeCase c(8, 8);
  c.add("points", {1, 4});
  DecoderConfig config = converter("landmarks");
  config.point_names = {"a", "b", "c"};
  EXPECT_NE(c.create_error(config).find("finds 2 points, point_names has 3"), std::string::npos);
  config.point_names = {"a", "b"};
  config.point_connections = {"a", "z"};
  EXPECT_NE(c.create_error(config).find("the point 'z'"), std::string::npos);
}

TEST(KeypointsHrnet, TakesTheLargestPlaceOfEachMap) {
  DecodeCase c(192, 256);
  const auto maps = c.add("heat", {1, 17, 64, 48});
  const auto at = [&](size_t point, size_t y, size_t x) -> float& {
    return maps[(point * 64 + y) * 48 + x];
  };
  at(0, 10, 5) = 0.75f;
  at(0, 11, 5) = 0.5f;
  at(3, 0, 0) = kInf;  // no value
  at(3, 20, 47) = 0.25f;
  at(16, 0, 0) = 3.0f;  // more than certain
  const Results results = c.decode(converter("keypoints_hrnet"));
  ASSERT_EQ(results.keypoints.size(), 1u);
  const Keypoints& found = results.keypoints[0];
  EXPECT_EQ(found.format, "body-pose/hrnet-coco-17");
  EXPECT_EQ(found.landmarks.names.at(16), "ankle_r");
  EXPECT_EQ(found.landmarks.connections.size(), 13u);
  expect_point(found, 0, 5.0f / 48 * 192, 10.0f / 64 * 256, 0.75f);
  expect_point(found, 3, 47.0f / 48 * 192, 20.0f / 64 * 256, 0.25f);
  expect_point(found, 16, 0.0f, 0.0f, 1.0f);
  expect_point(found, 1, -1.0f, -1.0f, 0.0f);
  EXPECT_NEAR(found.confidence, 2.0f / 3.0f, 1e-5f);
}

TEST(KeypointsHrnet, NothingFoundIsNoResult) {
  DecodeCase c(192, 256);
  c.add("heat", {1, 3, 4, 4}, kNan);
  EXPECT_TRUE(c.decode(converter("keypoints_hrnet")).keypoints.empty());
  DecodeCase weak(192, 256);
  weak.add("heat", {1, 3, 4, 4}, 0.2f);
  DecoderConfig config = converter("keypoints_hrnet");
  config.threshold = 0.3f;
  EXPECT_TRUE(weak.decode(config).keypoints.empty());
  DecodeCase flat(192, 256);
  flat.add("heat", {1, 17, 64});
  EXPECT_NE(flat.create_error(config).find("[1,17,64]"), std::string::npos);
}

TEST(KeypointsVitPose, FindsThePeakBetweenPlaces) {
  DecodeCase c(192, 256);
  const auto maps = c.add("heat", {1, 2, 64, 48});
  for (size_t place = 0; place < 64 * 48; ++place) {
    const float dx = static_cast<float>(place % 48) - 20.3f;
    const float dy = static_cast<float>(place / 48) - 30.6f;
    maps[place] = std::exp(-(dx * dx + dy * dy) / 8.0f);
  }
  const Results results = c.decode(converter("keypoints_vitpose"));
  ASSERT_EQ(results.keypoints.size(), 1u);
  const Keypoints& found = results.keypoints[0];
  // The last of 48 columns and 64 rows lie at the edges of the picture.
  EXPECT_NEAR(found.landmarks.points.at(0).x, 20.3f / 47 * 192, 0.02f);
  EXPECT_NEAR(found.landmarks.points.at(0).y, 30.6f / 63 * 256, 0.02f);
  EXPECT_EQ(found.landmarks.confidences.at(0), maps[31 * 48 + 20]);
  expect_point(found, 1, -1.0f, -1.0f, 0.0f);
}

TEST(KeypointsVitPose, AtTheEdgeAsTransformersDoes) {
  DecodeCase c(96, 128);
  const auto maps = c.add("heat", {1, 2, 8, 6});
  for (size_t place = 0; place < 48; ++place)
    maps[place] = maps[48 + place] = static_cast<float>(place * 37 % 101) / 101.0f;
  maps[48 + 42] = 1.5f;  // a corner
  const Results results = c.decode(converter("keypoints_vitpose"));
  ASSERT_EQ(results.keypoints.size(), 1u);
  const std::vector<Point>& points = results.keypoints[0].landmarks.points;
  EXPECT_NEAR(points.at(0).x, -43.035f, 0.01f);
  EXPECT_NEAR(points.at(0).y, 56.371f, 0.01f);
  EXPECT_NEAR(points.at(1).x, -9.6f, 0.01f);
  EXPECT_NEAR(points.at(1).y, 137.143f, 0.01f);
}

TEST(KeypointsVitPose, SurvivesWhatIsNoNumber) {
  DecodeCase c(96, 128);
  const auto maps = c.add("heat", {1, 1, 8, 6}, kNan);
  maps[7] = 0.5f;
  const Results results = c.decode(converter("keypoints_vitpose"));
  ASSERT_EQ(results.keypoints.size(), 1u);
  expect_point(results.keypoints[0], 0, 1.0f / 5 * 96, 1.0f / 7 * 128, 0.5f);
  DecodeCase flat(96, 128);
  flat.add("heat", {1, 17, 64});
  EXPECT_NE(flat.create_error(converter("keypoints_vitpose")).find("[1,17,64]"), std::string::npos);
}

TEST(Keypoints3d, CellsOfFourPixels) {
  DecodeCase c(256, 256);
  const auto values = c.add("points", {1, 2, 3});
  const float first[] = {10.0f, 20.0f, -3.0f};
  std::copy_n(first, 3, values.begin());
  values[3] = kNan;
  const Results results = c.decode(converter("keypoints_3d"));
  ASSERT_EQ(results.keypoints.size(), 1u);
  expect_point(results.keypoints[0], 0, 40.0f, 80.0f, 1.0f);
  expect_point(results.keypoints[0], 1, -1.0f, -1.0f, 0.0f);
  EXPECT_EQ(results.keypoints[0].depths.at(0), -12.0f);
  DecodeCase flat(256, 256);
  flat.add("points", {1, 2, 2});
  EXPECT_NE(flat.create_error(converter("keypoints_3d")).find("[1,2,2]"), std::string::npos);
}

/// Heat maps and fields of 18 points on a grid of 8-pixel cells, all zero.
struct PoseCase : DecodeCase {
  static constexpr int kRows = 40;
  static constexpr int kColumns = 60;
  std::span<float> fields;
  std::span<float> heat;

  PoseCase() : DecodeCase(kColumns * 8, kRows * 8) {
    fields = add("Mconv7_stage2_L1", {1, 38, kRows, kColumns});
    heat = add("Mconv7_stage2_L2", {1, 19, kRows, kColumns});
  }
  static size_t cell(size_t plane, int y, int x) {
    return (plane * kRows + static_cast<size_t>(y)) * kColumns + static_cast<size_t>(x);
  }
  void peak(size_t point, int x, int y, float score = 0.8f) { heat[cell(point, y, x)] = score; }
  /// A field of length 1 along a vertical or horizontal limb, one cell to each side.
  void limb(size_t plane, int x0, int y0, int x1, int y1) {
    const float dx = x1 == x0 ? 0.0f : (x1 > x0 ? 1.0f : -1.0f);
    const float dy = y1 == y0 ? 0.0f : (y1 > y0 ? 1.0f : -1.0f);
    for (int y = std::min(y0, y1) - 1; y <= std::max(y0, y1) + 1; ++y) {
      for (int x = std::min(x0, x1) - 1; x <= std::max(x0, x1) + 1; ++x) {
        fields[cell(plane, y, x)] = dx;
        fields[cell(plane + 1, y, x)] = dy;
      }
    }
  }
  /// Neck, right shoulder, right elbow: planes 12 (neck to shoulder) and 14 (shoulder to elbow).
  void arm(int x, int y) {
    peak(1, x, y);
    peak(2, x - 6, y);
    peak(3, x - 6, y + 8);
    limb(12, x, y, x - 6, y);
    limb(14, x - 6, y, x - 6, y + 8);
  }
};

TEST(KeypointsOpenPose, KeepsTwoBodiesApart) {
  PoseCase c;
  c.arm(12, 10);
  c.arm(40, 12);
  const Results results = c.decode(converter("keypoints_openpose"));
  ASSERT_EQ(results.keypoints.size(), 2u);
  const Keypoints& left = results.keypoints[0];
  EXPECT_EQ(left.format, "body-pose/openpose-18");
  EXPECT_EQ(left.landmarks.names.at(1), "neck");
  // The centre of cell 12, 10; zeros around it keep the peak in the middle.
  expect_point(left, 1, 12.5f * 8, 10.5f * 8, 0.8f);
  expect_point(left, 2, 6.5f * 8, 10.5f * 8, 0.8f);
  expect_point(left, 3, 6.5f * 8, 18.5f * 8, 0.8f);
  expect_point(left, 0, -1.0f, -1.0f, 0.0f);
  EXPECT_NEAR(left.confidence, 0.8f, 1e-5f);
  expect_point(results.keypoints[1], 3, 34.5f * 8, 20.5f * 8, 0.8f);
}

TEST(KeypointsOpenPose, PeaksAreRefinedBetweenCells) {
  PoseCase c;
  c.arm(12, 10);
  // A parabola through 0.4, 0.8, 0.6 has its top 1/6 of a cell to the right.
  c.heat[PoseCase::cell(1, 10, 11)] = 0.4f;
  c.heat[PoseCase::cell(1, 10, 13)] = 0.6f;
  const Results results = c.decode(converter("keypoints_openpose"));
  ASSERT_EQ(results.keypoints.size(), 1u);
  expect_point(results.keypoints[0], 1, (12.5f + 1.0f / 6.0f) * 8, 10.5f * 8, 0.8f);
}

TEST(KeypointsOpenPose, FewPointsOrNoFieldAreNoBody) {
  PoseCase two;
  two.peak(1, 12, 10);
  two.peak(2, 6, 10);
  two.limb(12, 12, 10, 6, 10);
  EXPECT_TRUE(two.decode(converter("keypoints_openpose")).keypoints.empty());
  PoseCase no_field;
  no_field.arm(12, 10);
  std::fill(no_field.fields.begin(), no_field.fields.end(), 0.0f);
  EXPECT_TRUE(no_field.decode(converter("keypoints_openpose")).keypoints.empty());
  PoseCase weak;
  weak.arm(12, 10);
  weak.context.threshold = 0.85f;
  EXPECT_TRUE(weak.decode(converter("keypoints_openpose")).keypoints.empty());
}

TEST(KeypointsOpenPose, BrokenAndFullMapsDoNoHarm) {
  PoseCase c;
  std::fill(c.heat.begin(), c.heat.end(), kNan);
  std::fill(c.fields.begin(), c.fields.end(), kNan);
  EXPECT_TRUE(c.decode(converter("keypoints_openpose")).keypoints.empty());
  std::fill(c.heat.begin(), c.heat.end(), kInf);
  EXPECT_TRUE(c.decode(converter("keypoints_openpose")).keypoints.empty());
  // A peak on every other cell: at most 64 of each map are looked at.
  for (size_t i = 0; i < c.heat.size(); ++i)
    c.heat[i] = (i / PoseCase::kColumns + i) % 2 == 0 ? 0.9f : 0.0f;
  std::fill(c.fields.begin(), c.fields.end(), 1.0f);
  EXPECT_LE(c.decode(converter("keypoints_openpose")).keypoints.size(), 64u * 17u);
}

TEST(KeypointsOpenPose, ChecksTheOutputs) {
  DecodeCase c(64, 64);
  c.add("heat", {1, 19, 8, 8});
  EXPECT_NE(c.create_error(converter("keypoints_openpose")).find("[batch,38,rows,columns]"),
            std::string::npos);
  c.add("fields", {1, 38, 8, 4});
  const auto results =
      c.create(converter("keypoints_openpose")).value()->decode(c.tensors, c.context);
  ASSERT_FALSE(results);
  EXPECT_NE(results.error().message().find("[1,38,8,4]"), std::string::npos);
}

}  // namespace
}  // namespace het::test
