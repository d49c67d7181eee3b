#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

TEST(BoxesLabels, ReadsPixelBoxesAndIntegerLabels) {
  DecodeCase c(100, 100);
  const auto boxes = c.add("boxes", {3, 5});
  const std::array<float, 10> rows{10, 20, 30, 40, 0.9f, 0, 0, 5, 5, 0.4f};
  std::copy(rows.begin(), rows.end(), boxes.begin());
  const Tensor labels = Tensor::from<int32_t>({3}, {1, 0, 0});
  c.outputs.push_back({"labels", labels.desc(), std::nullopt});
  c.tensors.push_back(labels);
  c.context.transform = {2, 2, 0, 0};
  DecoderConfig config = converter("boxes_labels");
  config.labels = {"person", "face"};
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_EQ(results.detections[0].label, "face");
  expect_box(results.detections[0], 20, 40, 60, 80);
}

TEST(BoxesLabels, WithoutBatchDimensionThereIsOneItem) {
  DecodeCase c(100, 100);
  c.add("boxes", {3, 5});
  c.add("labels", {3});
  c.context.batch_index = 1;
  auto decoder = c.create(converter("boxes_labels"));
  ASSERT_TRUE(decoder);
  const auto results = (*decoder)->decode(c.tensors, c.context);
  ASSERT_FALSE(results);
  EXPECT_NE(results.error().message().find("no batch dimension"), std::string::npos);
}

TEST(BoxesLabels, RefusesOtherShapes) {
  DecodeCase c(100, 100);
  c.add("boxes", {3, 5});
  c.add("labels", {4});
  EXPECT_NE(c.create_error(converter("boxes_labels")).find("'labels' float32[4]"),
            std::string::npos);
}

TEST(Boxes, AreOfClassZero) {
  for (const Shape& shape : {Shape{2, 5}, Shape{1, 2, 5}}) {
    DecodeCase c(320, 240);
    const std::array<float, 10> rows{10, 20, 30, 40, 0.9f, 50, 60, 70, 80, 0.1f};
    std::copy(rows.begin(), rows.end(), c.add("boxes", shape).begin());
    DecoderConfig config = converter("boxes");
    config.labels = {"text"};
    const Results results = c.decode(config);
    ASSERT_EQ(results.detections.size(), 1u);
    EXPECT_EQ(results.detections[0].label, "text");
    expect_box(results.detections[0], 10, 20, 30, 40);
  }
  DecodeCase other(320, 240);
  other.add("boxes", {2, 4});
  EXPECT_NE(other.create_error(converter("boxes")), "");
}

}  // namespace
}  // namespace het::test
