#include <cmath>
#include <limits>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

// 32x32 pixels: 16, 4 and 1 cells; 3 classes; distributions of 8 bins.
constexpr size_t kClasses = 3;
constexpr size_t kBins = 8;

DecodeCase make_case(std::vector<std::span<float>>& scores,
                     std::vector<std::span<float>>& distances) {
  DecodeCase c(32, 32);
  for (const auto& [stride, cells] : {std::pair{8, 16}, std::pair{16, 4}, std::pair{32, 1}}) {
    scores.push_back(c.add("cls_" + std::to_string(stride), {1, cells, kClasses}));
    distances.push_back(c.add("dis_" + std::to_string(stride), {1, cells, 4 * kBins}));
  }
  return c;
}

TEST(NanoDet, IntegratesTheDistribution) {
  std::vector<std::span<float>> scores;
  std::vector<std::span<float>> distances;
  DecodeCase c = make_case(scores, distances);
  scores[0][5 * kClasses + 2] = 0.75f;  // cell (1,1) of stride 8, centre (12,12)
  const size_t cell = 5 * 4 * kBins;
  distances[0][cell + 0 * kBins + 1] = 50.0f;  // left 1
  distances[0][cell + 1 * kBins + 0] = 50.0f;  // top 0
  distances[0][cell + 2 * kBins + 2] = 50.0f;  // right between 2 and 3
  distances[0][cell + 2 * kBins + 3] = 50.0f;
  // bottom: all equal, mean of 0..7 is 3.5
  DecoderConfig config = converter("nanodet");
  config.labels = {"a", "b", "c"};
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_EQ(results.detections[0].label, "c");
  EXPECT_FLOAT_EQ(results.detections[0].confidence, 0.75f);
  expect_box(results.detections[0], 12 - 8, 12, 12 + 20, 12 + 28);
}

TEST(NanoDet, FindsScoresByNameWhereTheShapesDoNotTell) {
  DecodeCase c(32, 32);
  for (const auto& [stride, cells] : {std::pair{8, 16}, std::pair{16, 4}, std::pair{32, 1}}) {
    c.add("reg_" + std::to_string(stride), {1, cells, 32});
    c.add("cls_" + std::to_string(stride), {1, cells, 32})[31] = 0.9f;
  }
  const Results results = c.decode(converter("nanodet"));
  ASSERT_EQ(results.detections.size(), 3u);
  EXPECT_EQ(results.detections[0].label_id, 31);
}

TEST(NanoDet, SurvivesWhatIsNoNumber) {
  std::vector<std::span<float>> scores;
  std::vector<std::span<float>> distances;
  DecodeCase c = make_case(scores, distances);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (auto values : scores) std::fill(values.begin(), values.end(), nan);
  EXPECT_EQ(c.decode(converter("nanodet")).detections.size(), 0u);
  for (auto values : scores) std::fill(values.begin(), values.end(), 0.9f);
  for (auto values : distances) std::fill(values.begin(), values.end(), nan);
  EXPECT_EQ(c.decode(converter("nanodet")).detections.size(), 0u);
}

TEST(NanoDet, RefusesMissingLevels) {
  DecodeCase c(32, 32);
  c.add("cls_8", {1, 16, 3});
  c.add("dis_8", {1, 16, 32});
  EXPECT_NE(c.create_error(converter("nanodet")).find("reads 2 outputs for stride 16"),
            std::string::npos);
  c.add("odd", {1, 7, 3});
  EXPECT_NE(c.create_error(converter("nanodet")).find("'odd'"), std::string::npos);
}

}  // namespace
}  // namespace het::test
