#include <cmath>
#include <limits>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

/// 3 queries, 4 classes; query 1 is class 2 at 0.8.
DecodeCase make_case() {
  DecodeCase c(200, 100);
  const auto boxes = c.add("dets", {1, 3, 4});
  const auto logits = c.add("labels", {1, 3, 4}, -10.0f);
  const std::array<float, 4> box{0.5f, 0.4f, 0.2f, 0.2f};
  std::copy(box.begin(), box.end(), boxes.begin() + 4);
  logits[4 + 2] = std::log(4.0f);
  c.outputs[0].name = "pred_boxes";
  return c;
}

TEST(RfDetr, SigmoidOfTheBestClass) {
  DecodeCase c = make_case();
  for (const char* name : {"rfdetr", "rtdetr"}) {
    const Results results = c.decode(converter(name));
    ASSERT_EQ(results.detections.size(), 1u) << name;
    EXPECT_EQ(results.detections[0].label_id, 2);
    EXPECT_NEAR(results.detections[0].confidence, 0.8f, 1e-6f);
    expect_box(results.detections[0], 100 - 20, 40 - 10, 100 + 20, 40 + 10);
  }
}

TEST(RfDetr, SoftmaxWhereAsked) {
  DecodeCase c = make_case();
  const auto logits = c.tensors[1].values<float>();
  std::fill(logits.begin(), logits.end(), 0.0f);
  logits[4 + 2] = std::log(9.0f);
  DecoderConfig config = converter("rtdetr");
  config.class_softmax = true;
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_NEAR(results.detections[0].confidence, 0.75f, 1e-6f);  // 9 / (9 + 3)
}

TEST(RfDetr, ABoxMayHaveSeveralClassesOfItsOwn) {
  DecodeCase c = make_case();
  const auto logits = c.tensors[1].values<float>();
  logits[4 + 1] = std::log(3.0f);
  Results results = c.decode(converter("rfdetr"));
  ASSERT_EQ(results.detections.size(), 2u);
  EXPECT_EQ(results.detections[0].label_id, 2);
  EXPECT_EQ(results.detections[1].label_id, 1);
  EXPECT_NEAR(results.detections[1].confidence, 0.75f, 1e-6f);
  expect_box(results.detections[1], 100 - 20, 40 - 10, 100 + 20, 40 + 10);
  std::fill(logits.begin(), logits.end(), 2.0f);
  EXPECT_EQ(c.decode(converter("rfdetr")).detections.size(), 12u);
  DecodeCase many(200, 100);
  many.add("dets", {1, 40, 4}, 0.5f);
  many.add("labels", {1, 40, 5}, 2.0f);
  many.outputs[0].name = "pred_boxes";
  EXPECT_EQ(many.decode(converter("rfdetr")).detections.size(), 100u);
}

TEST(RfDetr, ClassesBeyondTheLabelsAreNoObjects) {
  DecodeCase c = make_case();
  DecoderConfig config = converter("rfdetr");
  config.labels = {"a", "b"};
  EXPECT_EQ(c.decode(config).detections.size(), 0u);
  config.labels = {"a", "b", "c", "d", "e"};
  EXPECT_NE(c.create_error(config).find("5 labels"), std::string::npos);
}

TEST(RfDetr, MasksOfTheQuery) {
  DecodeCase c = make_case();
  const auto masks = c.add("masks", {1, 3, 10, 20}, -4.0f);
  std::fill(masks.begin() + 200, masks.begin() + 400, 4.0f);  // query 1
  const Results results = c.decode(converter("rfdetr_seg"));
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_EQ(results.detections[0].mask.width, 16);
  EXPECT_EQ(results.detections[0].mask.height, 8);
  for (const float value : results.detections[0].mask.values) EXPECT_NEAR(value, 0.982f, 1e-3f);
}

TEST(RfDetr, SurvivesWhatIsNoNumber) {
  DecodeCase c = make_case();
  for (Tensor& tensor : c.tensors) {
    const auto values = tensor.values<float>();
    std::fill(values.begin(), values.end(), std::numeric_limits<float>::quiet_NaN());
    EXPECT_EQ(c.decode(converter("rfdetr")).detections.size(), 0u);
  }
}

TEST(RfDetr, RefusesOtherOutputs) {
  DecodeCase c(64, 64);
  c.add("boxes", {1, 3, 5});
  c.add("logits", {1, 3, 80});
  EXPECT_NE(c.create_error(converter("rfdetr")), "");
  EXPECT_NE(make_case().create_error(converter("rfdetr_seg")).find("masks [batch,queries"),
            std::string::npos);
}

}  // namespace
}  // namespace het::test
