#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

void expect_joint(const Landmarks& found, size_t index, float x, float y, float confidence) {
  EXPECT_NEAR(found.points.at(index).x, x, 1e-3f) << index;
  EXPECT_NEAR(found.points.at(index).y, y, 1e-3f) << index;
  EXPECT_NEAR(found.confidences.at(index), confidence, 1e-5f) << index;
}

TEST(MoveNet, OneBody) {
  DecodeCase c(192, 192);
  const auto values = c.add("output_0", {2, 1, 17, 3});
  const auto point = [&](size_t index, float y, float x, float score) {
    const float row[] = {y, x, score};
    std::copy_n(row, 3, values.begin() + static_cast<std::ptrdiff_t>(51 + 3 * index));
  };
  point(0, 0.25f, 0.5f, 0.75f);
  point(9, 0.5f, 0.125f, 0.05f);  // below 0.11
  point(10, kNan, 0.5f, 0.9f);
  point(16, 1.0f, 1.0f, 0.25f);
  c.inputs[0].desc.shape[0] = 2;
  c.context.batch_index = 1;
  c.context.transform = {2.0f, 3.0f, 10.0f, 20.0f};
  const Results results = c.decode(converter("movenet"));
  ASSERT_EQ(results.keypoints.size(), 1u);
  const Keypoints& found = results.keypoints[0];
  EXPECT_EQ(found.landmarks.names.at(9), "wrist_l");
  EXPECT_EQ(found.layer, "output_0");
  expect_joint(found.landmarks, 0, 96.0f * 2 + 10, 48.0f * 3 + 20, 0.75f);
  expect_joint(found.landmarks, 9, -1.0f, -1.0f, 0.0f);
  expect_joint(found.landmarks, 10, -1.0f, -1.0f, 0.0f);
  expect_joint(found.landmarks, 16, 192.0f * 2 + 10, 192.0f * 3 + 20, 0.25f);
  EXPECT_NEAR(found.confidence, 0.5f, 1e-5f);
  c.context.batch_index = 0;
  EXPECT_TRUE(c.decode(converter("movenet")).keypoints.empty());
}

TEST(MoveNet, SeveralBodiesHaveBoxes) {
  DecodeCase c(256, 256);
  const auto values = c.add("output_0", {1, 6, 56});
  const auto body = [&](size_t row, float score) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(56 * row);
    for (std::ptrdiff_t i = 0; i < 51; ++i) at[i] = i % 3 == 0 ? 0.25f : 0.5f;  // y; x and score
    const float box[] = {0.125f, 0.25f, 0.5f, 0.75f, score};  // ymin, xmin, ymax, xmax
    std::copy_n(box, 5, at + 51);
  };
  body(1, 0.375f);
  body(2, 0.2f);  // below 0.25
  body(3, kNan);
  body(4, 0.75f);
  DecoderConfig config = converter("movenet");
  config.labels = {"person"};
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 2u);
  const Detection& best = results.detections[0];
  EXPECT_EQ(best.confidence, 0.75f);
  EXPECT_EQ(best.label, "person");
  expect_box(best, 64, 32, 192, 128);
  expect_joint(best.landmarks, 5, 128.0f, 64.0f, 0.5f);
  EXPECT_EQ(best.landmarks.names.at(5), "shoulder_l");
  EXPECT_EQ(results.detections[1].confidence, 0.375f);
}

TEST(MoveNet, OtherShapesAreErrors) {
  for (const Shape& shape : {Shape{1, 1, 17, 2}, Shape{1, 17, 3}, Shape{1, 8400, 56}}) {
    DecodeCase c(192, 192);
    c.add("out", shape);
    EXPECT_NE(c.create_error(converter("movenet")).find("[batch,1,17,3]"), std::string::npos)
        << to_string(shape);
  }
}

TEST(SimCc, WhereColumnsAndRowsAreLargest) {
  DecodeCase c(192, 256);
  const auto x = c.add("simcc_x", {2, 17, 384});
  const auto y = c.add("simcc_y", {2, 17, 512});
  const size_t item_x = size_t{17} * 384;
  const size_t item_y = size_t{17} * 512;
  x[item_x + 100] = 0.75f;
  x[item_x + 101] = 0.5f;
  y[item_y + 301] = 0.5f;
  // One axis alone is no point; nor is what is no number.
  x[item_x + 3 * 384 + 5] = 0.9f;
  std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(item_x + size_t{4} * 384), 384, kNan);
  y[item_y + 4 * 512] = 0.9f;
  x[item_x + 16 * 384] = kInf;
  x[item_x + 16 * 384 + 383] = 0.25f;
  y[item_y + 16 * 512 + 511] = 2.0f;
  c.inputs[0].desc.shape[0] = 2;
  c.context.batch_index = 1;
  c.context.transform = {2.0f, 3.0f, 10.0f, 20.0f};
  const Results results = c.decode(converter("simcc"));
  ASSERT_EQ(results.keypoints.size(), 1u);
  const Keypoints& found = results.keypoints[0];
  EXPECT_EQ(found.format, "body-pose/hrnet-coco-17");
  expect_joint(found.landmarks, 0, 50.0f * 2 + 10, 150.5f * 3 + 20, 0.5f);
  for (const size_t none : {1, 3, 4}) expect_joint(found.landmarks, none, -1.0f, -1.0f, 0.0f);
  expect_joint(found.landmarks, 16, 191.5f * 2 + 10, 255.5f * 3 + 20, 0.25f);
  EXPECT_NEAR(found.confidence, 0.375f, 1e-5f);
  c.context.batch_index = 0;
  EXPECT_TRUE(c.decode(converter("simcc")).keypoints.empty());
}

TEST(SimCc, RowsMayComeFirst) {
  DecodeCase c(192, 256);
  const auto y = c.add("1", {1, 21, 512});
  const auto x = c.add("2", {1, 21, 384});
  y[10] = 1.0f;
  x[20] = 1.0f;
  const Results by_lengths = c.decode(converter("simcc"));
  ASSERT_EQ(by_lengths.keypoints.size(), 1u);
  expect_joint(by_lengths.keypoints[0].landmarks, 0, 10.0f, 5.0f, 1.0f);
  EXPECT_EQ(by_lengths.keypoints[0].landmarks.names.at(8), "index_4");
  DecodeCase square(256, 256);
  square.add("simcc_y", {1, 26, 512})[10] = 1.0f;
  square.add("simcc_x", {1, 26, 512})[20] = 1.0f;
  const Results by_names = square.decode(converter("simcc"));
  ASSERT_EQ(by_names.keypoints.size(), 1u);
  expect_joint(by_names.keypoints[0].landmarks, 0, 10.0f, 5.0f, 1.0f);
}

TEST(SimCc, OtherShapesAreErrors) {
  DecodeCase c(192, 256);
  c.add("simcc_x", {1, 17, 384});
  EXPECT_NE(c.create_error(converter("simcc")).find("reads two outputs"), std::string::npos);
  c.add("simcc_y", {1, 21, 512});
  EXPECT_NE(c.create_error(converter("simcc")).find("[1,21,512]"), std::string::npos);
  DecodeCase boxes(640, 640);
  boxes.add("boxes", {1, 8400, 4});
  boxes.add("scores", {1, 8400, 80});
  EXPECT_NE(boxes.create_error(converter("simcc")).find("as many for each pixel"),
            std::string::npos);
}

}  // namespace
}  // namespace het::test
