#include <cmath>
#include <random>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

/// What one level of an input of 64x64 pixels has, two anchors a cell.
struct ScrfdLevel {
  int64_t stride = 8;
  int64_t rows = 0;
  std::span<float> scores, boxes, points;
};

/// Outputs as buffalo_l's det_10g orders them: scores of all strides, then boxes, then points.
DecodeCase scrfd_case(std::vector<ScrfdLevel>& levels, bool with_points, int64_t batch = 0,
                      float value = 0.0f) {
  DecodeCase c(64, 64);
  if (batch > 1) c.inputs[0].desc.shape[0] = batch;
  for (const int64_t stride : {8, 16, 32})
    levels.push_back({stride, 2 * (64 / stride) * (64 / stride), {}, {}, {}});
  int number = 400;
  const auto add = [&](const ScrfdLevel& level, int64_t columns) {
    const Shape shape = batch == 0 ? Shape{level.rows, columns} : Shape{batch, level.rows, columns};
    return c.add(std::to_string(number++), shape, value);
  };
  for (ScrfdLevel& level : levels) level.scores = add(level, 1);
  for (ScrfdLevel& level : levels) level.boxes = add(level, 4);
  for (ScrfdLevel& level : levels) {
    if (with_points) level.points = add(level, 10);
  }
  return c;
}

TEST(Scrfd, DistancesAreMeasuredFromTheCornerOfTheCell) {
  std::vector<ScrfdLevel> levels;
  DecodeCase c = scrfd_case(levels, true);
  const size_t row = 2 * (1 * 4 + 2) + 1;  // stride 16: second row, third column, second anchor
  levels[1].scores[row] = 0.75f;
  const float sides[] = {1.0f, 0.5f, 0.25f, 2.0f};
  std::copy_n(sides, 4, &levels[1].boxes[4 * row]);
  levels[1].points[10 * row + 2] = -0.5f;
  levels[1].points[10 * row + 3] = 1.5f;
  DecoderConfig config = converter("scrfd");
  config.labels = {"face"};
  c.context.transform = {2.0f, 2.0f, 0.0f, 100.0f};
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 1u);
  const Detection& face = results.detections[0];
  EXPECT_EQ(face.label, "face");
  EXPECT_FLOAT_EQ(face.confidence, 0.75f);
  expect_box(face, 2 * (32 - 16), 100 + 2 * (16 - 8), 2 * (32 + 4), 100 + 2 * (16 + 32));
  ASSERT_EQ(face.landmarks.points.size(), 5u);
  EXPECT_EQ(face.landmarks.names[0], "right_eye");
  EXPECT_NEAR(face.landmarks.points[0].x, 2 * 32, 1e-4f);
  EXPECT_NEAR(face.landmarks.points[1].x, 2 * (32 - 8), 1e-4f);
  EXPECT_NEAR(face.landmarks.points[1].y, 100 + 2 * (16 + 24), 1e-4f);
}

struct ScrfdFace {
  float score = 0.0f;
  float box[4] = {};
  float nose_x = 0.0f;
};

/// The family's own way: a list of centres for each level, each repeated for its anchors.
std::vector<ScrfdFace> scrfd_by_lists(const std::vector<ScrfdLevel>& levels, float threshold) {
  std::vector<ScrfdFace> faces;
  for (const ScrfdLevel& level : levels) {
    std::vector<std::pair<float, float>> centres;
    for (int64_t y = 0; y < 64; y += level.stride) {
      for (int64_t x = 0; x < 64; x += level.stride)
        centres.insert(centres.end(), 2, {static_cast<float>(x), static_cast<float>(y)});
    }
    for (size_t i = 0; i < centres.size(); ++i) {
      if (level.scores[i] < threshold) continue;
      const auto [x, y] = centres[i];
      const auto stride = static_cast<float>(level.stride);
      const float* d = &level.boxes[4 * i];
      faces.push_back({level.scores[i],
                       {x - d[0] * stride, y - d[1] * stride, x + d[2] * stride, y + d[3] * stride},
                       x + level.points[10 * i + 4] * stride});
    }
  }
  std::ranges::sort(faces, std::ranges::greater{}, &ScrfdFace::score);
  return faces;
}

TEST(Scrfd, IsDecodedAsWithListsOfCentresInAnyOrderOfOutputs) {
  std::vector<ScrfdLevel> levels;
  DecodeCase c = scrfd_case(levels, true);
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  for (ScrfdLevel& level : levels) {
    for (std::span<float> part : {level.scores, level.boxes, level.points})
      std::ranges::generate(part, [&] { return uniform(random); });
  }
  DecoderConfig config = converter("scrfd");
  config.threshold = 0.6f;
  config.iou_threshold = 1.0f;
  const std::vector<ScrfdFace> expected = scrfd_by_lists(levels, 0.6f);
  for (int turn = 0; turn < 3; ++turn) {
    const Results results = c.decode(config);
    ASSERT_EQ(results.detections.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const Detection& found = results.detections[i];
      EXPECT_FLOAT_EQ(found.confidence, expected[i].score);
      const float* box = expected[i].box;
      expect_box(found, box[0], box[1], box[2], box[3]);
      EXPECT_NEAR(found.landmarks.points[2].x, expected[i].nose_x, 1e-3f);
    }
    std::ranges::rotate(c.outputs, c.outputs.begin() + 4);
    std::ranges::rotate(c.tensors, c.tensors.begin() + 4);
  }
}

TEST(Scrfd, LogitsWithoutPointsOfTheSecondPicture) {
  std::vector<ScrfdLevel> levels;
  DecodeCase c = scrfd_case(levels, false, 2, -3.0f);
  const auto row = static_cast<size_t>(levels[2].rows + 6);  // last cell of stride 32
  levels[2].scores[row] = std::log(4.0f);
  std::fill_n(&levels[2].boxes[4 * row], 4, 0.5f);
  DecoderConfig config = converter("scrfd");
  config.sigmoid_activation = true;
  EXPECT_TRUE(c.decode(config).detections.empty());
  c.context.batch_index = 1;
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_NEAR(results.detections[0].confidence, 0.8f, 1e-6f);
  expect_box(results.detections[0], 16, 16, 48, 48);
  EXPECT_TRUE(results.detections[0].landmarks.points.empty());
}

TEST(Scrfd, SuppressesWhatOverlaps) {
  std::vector<ScrfdLevel> levels;
  DecodeCase c = scrfd_case(levels, true);
  for (const size_t row : {0u, 1u, 40u}) {
    levels[0].scores[row] = 0.6f + 0.1f * static_cast<float>(row % 2);
    std::fill_n(&levels[0].boxes[4 * row], 4, 1.0f);
    levels[0].points[10 * row] = static_cast<float>(row);
  }
  const Results results = c.decode(converter("scrfd"));
  ASSERT_EQ(results.detections.size(), 2u);
  EXPECT_NEAR(results.detections[0].landmarks.points[0].x, 8, 1e-4f);  // of row 1, the better
}

TEST(Scrfd, SurvivesWhatIsNoNumber) {
  for (const float bad : {kNan, kInf, -kInf}) {
    std::vector<ScrfdLevel> levels;
    EXPECT_TRUE(scrfd_case(levels, true, 0, bad).decode(converter("scrfd")).detections.empty());
    levels.clear();
    DecodeCase c = scrfd_case(levels, true);
    levels[0].scores[0] = 0.9f;
    std::fill_n(levels[0].boxes.data(), 4, 1.0f);
    levels[0].points[0] = bad;
    const Results results = c.decode(converter("scrfd"));
    ASSERT_EQ(results.detections.size(), 1u);
    EXPECT_NEAR(results.detections[0].landmarks.points[0].x, 0.0f, 1e-4f);  // the box's centre
  }
}

TEST(Scrfd, RefusesOtherOutputs) {
  std::vector<ScrfdLevel> levels;
  DecodeCase rows = scrfd_case(levels, true);
  rows.outputs[4].desc.shape = {31, 4};
  EXPECT_NE(rows.create_error(converter("scrfd")).find("16 cells of stride 16"), std::string::npos);
  levels.clear();
  DecodeCase missing = scrfd_case(levels, true);
  missing.outputs.pop_back();
  EXPECT_NE(missing.create_error(converter("scrfd")).find("for each stride an output of 1 column"),
            std::string::npos);
  levels.clear();
  DecodeCase batch = scrfd_case(levels, true);
  batch.inputs[0].desc.shape[0] = 2;  // rows of one picture only
  EXPECT_NE(batch.create_error(converter("scrfd")), "");
  levels.clear();
  DecodeCase named = scrfd_case(levels, true);
  DecoderConfig config = converter("scrfd");
  config.point_names = {"one"};
  EXPECT_NE(named.create_error(config).find("point_names has 1"), std::string::npos);
  levels.clear();
  DecodeCase unknown = scrfd_case(levels, true);
  unknown.inputs.clear();
  EXPECT_NE(unknown.create_error(converter("scrfd")).find("needs the size"), std::string::npos);
}

TEST(Scrfd, RefusesTensorsThatCameOtherwise) {
  std::vector<ScrfdLevel> levels;
  DecodeCase c = scrfd_case(levels, true);
  const auto decoder = c.create(converter("scrfd"));
  ASSERT_TRUE(decoder);
  c.tensors[3] = Tensor::allocate({ElementType::Float32, {64, 4}}).value();
  EXPECT_FALSE((*decoder)->decode(c.tensors, c.context));
}

}  // namespace
}  // namespace het::test
