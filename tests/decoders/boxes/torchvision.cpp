#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

/// Three boxes in a picture of 200x100; the middle one is not sure.
DecodeCase three_boxes() {
  DecodeCase c(200, 100);
  const auto boxes = c.add("boxes", {3, 4});
  const std::array<float, 12> corners{10, 20, 30, 60, 0, 0, 5, 5, 100, 50, 180, 90};
  std::ranges::copy(corners, boxes.begin());
  c.outputs.push_back({"labels", {ElementType::Int64, {3}}, std::nullopt});
  c.tensors.push_back(Tensor::from<int64_t>({3}, {7, 1, 2}));
  const auto scores = c.add("scores", {3});
  std::ranges::copy(std::array<float, 3>{0.6f, 0.1f, 0.9f}, scores.begin());
  return c;
}

TEST(Torchvision, BoxesLabelsAndScores) {
  const Results results = three_boxes().decode(converter("torchvision"));
  ASSERT_EQ(results.detections.size(), 2u);
  EXPECT_EQ(results.detections[0].label_id, 2);
  expect_box(results.detections[0], 100, 50, 180, 90);
  EXPECT_EQ(results.detections[1].label_id, 7);
  EXPECT_FLOAT_EQ(results.detections[1].confidence, 0.6f);
}

TEST(Torchvision, MasksOfTheWholePictureAreCut) {
  DecodeCase c = three_boxes();
  const auto masks = c.add("masks", {3, 1, 100, 200});
  masks[2 * 100 * 200 + 50 * 200 + 100] = 1.0f;  // the first place of the last box
  const Results results = c.decode(converter("torchvision"));
  const Mask& mask = results.detections.at(0).mask;
  EXPECT_EQ(mask.width, 80);
  EXPECT_EQ(mask.height, 40);
  EXPECT_FLOAT_EQ(mask.values.at(0), 1.0f);
  EXPECT_FLOAT_EQ(mask.values.at(1), 0.0f);
}

TEST(Torchvision, PointsOfABody) {
  DecodeCase c = three_boxes();
  const auto points = c.add("keypoints", {3, 17, 3}, 1.0f);
  c.add("keypoints_scores", {3, 17});
  points[2 * 17 * 3] = 120.0f;
  points[2 * 17 * 3 + 1] = 70.0f;
  const Results results = c.decode(converter("torchvision"));
  const Landmarks& body = results.detections.at(0).landmarks;
  ASSERT_EQ(body.points.size(), 17u);
  EXPECT_FLOAT_EQ(body.points[0].x, 120.0f);
  EXPECT_FLOAT_EQ(body.points[0].y, 70.0f);
  EXPECT_EQ(body.names.size(), 17u);
}

TEST(Torchvision, WhatIsNoNumberIsNoObject) {
  DecodeCase c = three_boxes();
  c.tensors[2].values<float>()[0] = kNan;
  c.tensors[0].values<float>()[8] = kInf;
  c.add("masks", {3, 1, 4, 4});
  EXPECT_EQ(c.decode(converter("torchvision")).detections.size(), 0u);
}

TEST(Torchvision, NothingFoundAndWrongShapes) {
  DecodeCase none(200, 100);
  none.add("boxes", {0, 4});
  none.outputs.push_back({"labels", {ElementType::Int64, {0}}, std::nullopt});
  none.tensors.push_back(Tensor::from<int64_t>({0}, {}));
  none.add("scores", {0});
  EXPECT_EQ(none.decode(converter("torchvision")).detections.size(), 0u);
  DecodeCase wrong(200, 100);
  wrong.add("boxes", {3, 4});
  wrong.add("scores", {3});
  EXPECT_NE(wrong.create_error(converter("torchvision")).find("labels [N]"), std::string::npos);
  DecodeCase more = three_boxes();
  more.add("extra", {1, 2});
  EXPECT_NE(more.create_error(converter("torchvision")), "");
}

}  // namespace
}  // namespace het::test
