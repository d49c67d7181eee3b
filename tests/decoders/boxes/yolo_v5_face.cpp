#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

// 32x32 pixels: 16, 4 and 1 cells, three rows each.
constexpr int64_t kPointedRows = 3 * 21;

DecodeCase pointed_case(int64_t columns, std::span<float>& rows, int64_t batch = 1,
                        float value = 0.0f) {
  DecodeCase c(32, 32);
  c.inputs[0].desc.shape[0] = batch;
  rows = c.add("output", {batch, kPointedRows, columns}, value);
  return c;
}

void fill_row(std::span<float> rows, size_t columns, size_t row, const std::vector<float>& values) {
  std::ranges::copy(values, rows.begin() + static_cast<std::ptrdiff_t>(row * columns));
}

TEST(YoloV5Face, PointsStandBeforeTheClass) {
  std::span<float> rows;
  DecodeCase c = pointed_case(16, rows);
  fill_row(rows, 16, 5, {16, 12, 8, 4, 0.8f, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0.75f});
  fill_row(rows, 16, 9, {16, 12, 8, 4, 0.8f, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 0.7f});   // suppressed
  fill_row(rows, 16, 11, {25, 25, 8, 4, 0.4f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1.0f});  // too low
  c.context.transform = {2.0f, 3.0f, 1.0f, 0.0f};
  const Results results = c.decode(converter("yolo_v5_face"));
  ASSERT_EQ(results.detections.size(), 1u);
  const Detection& face = results.detections[0];
  EXPECT_NEAR(face.confidence, 0.6f, 1e-6f);
  expect_box(face, 1 + 2 * 12, 3 * 10, 1 + 2 * 20, 3 * 14);
  ASSERT_EQ(face.landmarks.points.size(), 5u);
  EXPECT_EQ(face.landmarks.names[4], "left_mouth");
  EXPECT_FLOAT_EQ(face.landmarks.points[0].x, 1 + 2 * 1);
  EXPECT_FLOAT_EQ(face.landmarks.points[4].y, 3 * 10);
  EXPECT_TRUE(face.landmarks.confidences.empty());
}

TEST(YoloV5Face, PlatesHaveFourCornersAndOneClassOrTwo) {
  for (const int64_t columns : {14, 15}) {
    std::span<float> rows;
    DecodeCase c = pointed_case(columns, rows);
    std::vector<float> plate{10, 10, 8, 4, 1, 6, 8, 14, 8, 14, 12, 6, 12};
    plate.insert(plate.end(), static_cast<size_t>(columns - 13), 0.1f);
    plate.back() = 0.9f;
    fill_row(rows, static_cast<size_t>(columns), 0, plate);
    const Results results = c.decode(converter("yolo_v5_face"));
    ASSERT_EQ(results.detections.size(), 1u);
    EXPECT_EQ(results.detections[0].label_id, columns - 14);
    EXPECT_NEAR(results.detections[0].confidence, 0.9f, 1e-6f);
    ASSERT_EQ(results.detections[0].landmarks.points.size(), 4u);
    EXPECT_EQ(results.detections[0].landmarks.names[2], "bottom_right");
    EXPECT_FLOAT_EQ(results.detections[0].landmarks.points[2].x, 14);
  }
}

TEST(YoloV5Face, LabelsOrNamesOfPointsDivideTheRow) {
  std::span<float> rows;
  const DecodeCase c = pointed_case(15, rows);
  fill_row(rows, 15, 0, {10, 10, 8, 4, 1, 1, 2, 3, 4, 5, 6, 0.1f, 0.2f, 0.9f, 0.3f});
  DecoderConfig labelled = converter("yolo_v5_face");
  labelled.labels = {"a", "b", "c", "d"};
  DecoderConfig named = converter("yolo_v5_face");
  named.point_names = {"x", "y", "z"};
  for (const DecoderConfig& config : {labelled, named}) {
    const Results results = c.decode(config);
    ASSERT_EQ(results.detections.size(), 1u);
    EXPECT_EQ(results.detections[0].label_id, 2);
    EXPECT_EQ(results.detections[0].landmarks.points.size(), 3u);
  }
}

TEST(YoloV7Pose, PointsWithConfidenceStandBehindTheClass) {
  std::span<float> rows;
  DecodeCase c = pointed_case(21, rows, 2);
  std::vector<float> face{16, 12, 8, 4, 0.8f, 0.75f};
  for (int p = 0; p < 5; ++p) {
    const auto value = static_cast<float>(p);
    face.insert(face.end(), {value, 2 * value, 0.1f * value});
  }
  fill_row(rows, 21, kPointedRows + 62, face);
  EXPECT_TRUE(c.decode(converter("yolo_v7_pose")).detections.empty());
  c.context.batch_index = 1;
  const Results results = c.decode(converter("yolo_v7_pose"));
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_NEAR(results.detections[0].confidence, 0.6f, 1e-6f);
  const Landmarks& points = results.detections[0].landmarks;
  ASSERT_EQ(points.points.size(), 5u);
  EXPECT_EQ(points.names[2], "nose_tip");
  EXPECT_FLOAT_EQ(points.points[3].y, 6);
  EXPECT_NEAR(points.confidences[3], 0.3f, 1e-6f);

  const DecodeCase body = pointed_case(57, rows);
  fill_row(rows, 57, 0, {16, 12, 8, 4, 0.8f, 0.75f});
  const Results bodies = body.decode(converter("yolo_v7_pose"));
  ASSERT_EQ(bodies.detections.size(), 1u);
  EXPECT_EQ(bodies.detections[0].landmarks.names.at(0), "nose");
}

TEST(YoloV5Face, SurvivesWhatIsNoNumber) {
  for (const char* name : {"yolo_v5_face", "yolo_v7_pose"}) {
    for (const float bad : {kNan, kInf, -kInf}) {
      const int64_t columns = name == std::string("yolo_v5_face") ? 16 : 21;
      std::span<float> rows;
      DecodeCase all = pointed_case(columns, rows, 1, bad);
      EXPECT_TRUE(all.decode(converter(name)).detections.empty()) << bad;
      DecodeCase c = pointed_case(columns, rows);
      std::ranges::fill(rows.subspan(0, static_cast<size_t>(columns)), 1.0f);
      rows[6] = rows[7] = bad;
      EXPECT_EQ(c.decode(converter(name)).detections.size(), 1u);
    }
  }
}

TEST(YoloV5Face, RefusesOtherOutputs) {
  std::span<float> rows;
  DecodeCase other = pointed_case(16, rows);
  other.outputs[0].desc.shape[1] += 1;
  EXPECT_NE(other.create_error(converter("yolo_v5_face")).find("three rows for each of the 21"),
            std::string::npos);
  DecoderConfig config = converter("yolo_v5_face");
  config.classes = 2;
  EXPECT_NE(pointed_case(16, rows).create_error(config).find("no whole points"), std::string::npos);
  EXPECT_NE(pointed_case(16, rows).create_error(converter("yolo_v7_pose")), "");
  EXPECT_NE(pointed_case(6, rows).create_error(converter("yolo_v5_face")), "");
  DecodeCase several = pointed_case(16, rows);
  several.add("more", {1, 63, 16});
  EXPECT_NE(several.create_error(converter("yolo_v5_face")).find("reads one output"),
            std::string::npos);
}

}  // namespace
}  // namespace het::test
