#include <gtest/gtest.h>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

void fill(std::span<float> values, const std::vector<float>& numbers) {
  std::copy(numbers.begin(), numbers.end(), values.begin());
}

DecoderConfig suppressed(std::string name) {
  DecoderConfig config = converter(std::move(name));
  config.labels = {"a", "b", "c"};
  return config;
}

void expect_object(const Detection& d, std::array<float, 4> box, float confidence,
                   const std::string& label) {
  EXPECT_FLOAT_EQ(d.x_min, box[0]);
  EXPECT_FLOAT_EQ(d.y_min, box[1]);
  EXPECT_FLOAT_EQ(d.x_max, box[2]);
  EXPECT_FLOAT_EQ(d.y_max, box[3]);
  EXPECT_FLOAT_EQ(d.confidence, confidence);
  EXPECT_EQ(d.label, label);
}

/// Two pictures of 100x50 with three rows each, of which `count` are objects.
DecodeCase tensorflow(const std::string& classes, const std::string& scores, float count) {
  DecodeCase c(100, 50);
  fill(c.add("boxes", {2, 3, 4}), {0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0,  //
                                   0.2f, 0.1f, 0.6f, 0.5f, 0, 0, 1, 1, 0, 0, 1, 1});
  fill(c.add(classes, {2, 3}), {0, 0, 0, 1, 2, 7});
  fill(c.add(scores, {2, 3}), {0, 0, 0, 0.75f, 0.25f, kNan});
  fill(c.add("num", {2}), {0, count});
  c.context.batch_index = 1;
  return c;
}

TEST(TfDetection, BoxesAreRelativeWithYFirst) {
  for (const auto& [classes, scores] :
       {std::pair{"detection_classes", "detection_scores"}, {"x", "y"}}) {
    const Results results = tensorflow(classes, scores, 3).decode(suppressed("tf_detection"));
    ASSERT_EQ(results.detections.size(), 1u) << classes;
    expect_object(results.detections[0], {10, 10, 50, 30}, 0.75f, "b");
  }
  EXPECT_TRUE(tensorflow("a", "b", 0).decode(suppressed("tf_detection")).detections.empty());
}

TEST(TfDetection, NamesAndValuesTellScoresFromClasses) {
  DecodeCase c(100, 50);
  fill(c.add("scores", {1, 2}), {1.0f, 1.0f});
  fill(c.add("boxes", {1, 2, 4}), {0, 0, 1, 1, 0, 0, 1, 1});
  fill(c.add("labels", {1, 2}), {2, 0});
  EXPECT_EQ(c.decode(suppressed("tf_detection")).detections.at(0).label, "c");
  DecodeCase unnamed(100, 50);
  fill(unnamed.add("0", {1, 2}), {0.9f, 0.75f});
  fill(unnamed.add("1", {1, 2, 4}), {0, 0, 1, 1, 0, 0, 1, 1});
  fill(unnamed.add("2", {1, 2}), {2, 1});
  EXPECT_EQ(unnamed.decode(suppressed("tf_detection")).detections.at(0).label, "c");
}

TEST(TfDetection, OutputsBeforeTheSuppressionAreLeftOut) {
  DecodeCase c = tensorflow("detection_classes", "detection_scores", 3);
  c.add("raw_detection_boxes", {2, 10, 4});
  c.add("raw_detection_scores", {2, 10, 4});
  c.add("detection_anchor_indices", {2, 3});
  EXPECT_EQ(c.decode(suppressed("tf_detection")).detections.size(), 1u);
  DecodeCase wrong(100, 50);
  wrong.add("boxes", {1, 3, 5});
  EXPECT_FALSE(wrong.create(suppressed("tf_detection")));
}

TEST(ObjectRows, PaddlesNumbersTellThePictures) {
  DecodeCase c(100, 50);
  fill(c.add("rows", {4, 6}), {0, 0.9f, 1, 1, 2, 2, 1,  0.8f, 3, 3, 4, 4,  //
                               2, 0.7f, 5, 5, 6, 6, -1, 1,    0, 0, 9, 9});
  fill(c.add("numbers", {2}), {1, 3});
  EXPECT_EQ(c.decode(suppressed("paddle_detection")).detections.size(), 1u);
  c.context.batch_index = 1;
  const Results second = c.decode(suppressed("paddle_detection"));
  ASSERT_EQ(second.detections.size(), 2u);
  expect_object(second.detections[0], {3, 3, 4, 4}, 0.8f, "b");
  expect_object(second.detections[1], {5, 5, 6, 6}, 0.7f, "c");
  c.context.batch_index = 2;
  const auto decoder = c.create(suppressed("paddle_detection")).value();
  EXPECT_FALSE(decoder->decode(c.tensors, c.context));
  // More than there are, and no number at all.
  c.context.batch_index = 0;
  for (const float wrong : {1e9f, kInf}) {
    c.tensors[1].values<float>()[0] = wrong;
    EXPECT_EQ(c.decode(suppressed("paddle_detection")).detections.size(), 3u);
  }
  for (const float wrong : {-1.0f, kNan}) {
    c.tensors[1].values<float>()[0] = wrong;
    EXPECT_TRUE(c.decode(suppressed("paddle_detection")).detections.empty());
  }
}

TEST(ObjectRows, YoloV7NamesThePictureInEachRow) {
  DecodeCase c(100, 50);
  fill(c.add("rows", {3, 7}), {0, 1, 2, 3, 4, 1, 0.9f, 1, 5, 6, 7, 8, 2, 0.8f,  //
                               1, 5, 6, 7, 8, 2, kNan});
  const Results first = c.decode(suppressed("yolo_v7_end2end"));
  ASSERT_EQ(first.detections.size(), 1u);
  expect_object(first.detections[0], {1, 2, 3, 4}, 0.9f, "b");
  c.context.batch_index = 1;
  const Results second = c.decode(suppressed("yolo_v7_end2end"));
  ASSERT_EQ(second.detections.size(), 1u);
  expect_object(second.detections[0], {5, 6, 7, 8}, 0.8f, "c");
  DecodeCase none(100, 50);
  none.add("rows", {0, 7});
  EXPECT_TRUE(none.decode(suppressed("yolo_v7_end2end")).detections.empty());
}

TEST(NmsIndices, LookUpBoxesAndScores) {
  DecodeCase c(100, 50);
  fill(c.add("boxes", {1, 2, 4}), {10, 20, 30, 40, 1, 2, 3, 4});
  fill(c.add("scores", {1, 3, 2}), {0, 0, 0, 0.75f, 0.9f, 0.1f});
  Tensor indices = Tensor::allocate({ElementType::Int64, {1, 5, 3}}).value();
  const std::vector<int64_t> numbers{0, 2, 0, 0, 1, 1, 0, 3, 0, 0, 0, 2, -1, -1, -1};
  std::copy(numbers.begin(), numbers.end(), indices.values<int64_t>().begin());
  c.outputs.push_back({"indices", indices.desc(), std::nullopt});
  c.tensors.push_back(indices);
  const Results results = c.decode(suppressed("nms_indices"));
  ASSERT_EQ(results.detections.size(), 2u);  // what lies outside is no object
  expect_object(results.detections[0], {20, 10, 40, 30}, 0.9f, "c");
  expect_object(results.detections[1], {2, 1, 4, 3}, 0.75f, "b");
}

}  // namespace
}  // namespace het::test
