#include <limits>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

TEST(MaskRcnn, BoxesLabelsAndMasks) {
  for (const bool batched : {false, true}) {
    DecodeCase c(200, 100);
    const auto boxes = c.add("boxes", batched ? Shape{1, 2, 5} : Shape{2, 5});
    const std::array<float, 10> rows{0, 0, 5, 5, 0.1f, 20, 30, 60, 80, 0.9f};
    std::copy(rows.begin(), rows.end(), boxes.begin());
    const Tensor labels = Tensor::from<int64_t>(batched ? Shape{1, 2} : Shape{2}, {0, 1});
    c.outputs.push_back({"labels", labels.desc(), std::nullopt});
    c.tensors.push_back(labels);
    const auto masks = c.add("masks", batched ? Shape{1, 2, 2, 3} : Shape{2, 2, 3});
    masks[6 + 4] = 0.75f;
    DecoderConfig config = converter("mask_rcnn");
    config.labels = {"cat", "dog"};
    const Results results = c.decode(config);
    ASSERT_EQ(results.detections.size(), 1u);
    EXPECT_EQ(results.detections[0].label, "dog");
    expect_box(results.detections[0], 20, 30, 60, 80);
    EXPECT_EQ(results.detections[0].mask.width, 3);
    EXPECT_EQ(results.detections[0].mask.height, 2);
    EXPECT_FLOAT_EQ(results.detections[0].mask.values[4], 0.75f);
  }
}

TEST(MaskRcnn, RowsOfSevenWithAMaskPerClass) {
  DecodeCase c(200, 100);
  const auto boxes = c.add("reshape_do_2d", {2, 7});
  const std::array<float, 14> rows{0, 2, 0.9f, 0.1f, 0.2f, 0.3f, 0.4f,
                                   1, 2, 0.9f, 0.1f, 0.2f, 0.3f, 0.4f};
  std::copy(rows.begin(), rows.end(), boxes.begin());
  const auto masks = c.add("masks", {2, 3, 2, 2});
  masks[4 + 3] = 1.0f;  // box 0, class 2 - 1
  const Results results = c.decode(converter("mask_rcnn"));
  ASSERT_EQ(results.detections.size(), 1u);  // the other one belongs to another picture
  EXPECT_EQ(results.detections[0].label_id, 2);
  expect_box(results.detections[0], 20, 20, 60, 40);
  EXPECT_EQ(results.detections[0].mask.values, (std::vector<float>{0, 0, 0, 1}));
}

TEST(MaskRcnn, LabelsWithoutMaskStayWithout) {
  DecodeCase c(200, 100);
  const auto boxes = c.add("boxes", {1, 7});
  const std::array<float, 7> row{0, 9, 0.9f, 0.1f, 0.2f, 0.3f, 0.4f};
  std::copy(row.begin(), row.end(), boxes.begin());
  c.add("masks", {1, 3, 2, 2});
  const Results results = c.decode(converter("mask_rcnn"));
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_TRUE(results.detections[0].mask.empty());
  const auto values = c.tensors[0].values<float>();
  std::fill(values.begin(), values.end(), std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(c.decode(converter("mask_rcnn")).detections.size(), 0u);
}

TEST(MaskRcnn, RefusesOtherOutputs) {
  DecodeCase c(200, 100);
  c.add("boxes", {2, 5});
  c.add("masks", {2, 28, 28});
  EXPECT_NE(c.create_error(converter("mask_rcnn")).find("labels [N]"), std::string::npos);
}

}  // namespace
}  // namespace het::test
