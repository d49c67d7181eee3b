#include <limits>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

DecodeCase make_rtdetr_case() {
  DecodeCase c(320, 320);
  const Tensor labels = Tensor::from<int64_t>({1, 3}, {7, 2, 2});
  c.outputs.push_back({"labels", labels.desc(), std::nullopt});
  c.tensors.push_back(labels);
  c.add("boxes", {1, 3, 4});
  c.add("scores", {1, 3});
  return c;
}

TEST(RtDetr, ReadsDecodedBoxesWithoutSuppression) {
  DecodeCase c = make_rtdetr_case();
  const std::array<float, 12> boxes{0, 0, 32, 64, 0, 0, 32, 64, 0, 0, 1, 1};
  std::copy(boxes.begin(), boxes.end(), c.tensors[1].values<float>().begin());
  const std::array<float, 3> scores{0.6f, 0.8f, 0.1f};
  std::copy(scores.begin(), scores.end(), c.tensors[2].values<float>().begin());
  c.context.transform = {2, 1, 5, 0};
  const Results results = c.decode(converter("rtdetr"));
  ASSERT_EQ(results.detections.size(), 2u);
  EXPECT_EQ(results.detections[0].label_id, 2);
  EXPECT_EQ(results.detections[1].label_id, 7);
  expect_box(results.detections[1], 5, 0, 69, 64);
}

TEST(RtDetr, BoxesMayBeShares) {
  DecodeCase c = make_rtdetr_case();
  const std::array<float, 4> box{0.25f, 0.5f, 0.5f, 1.0f};
  std::copy(box.begin(), box.end(), c.tensors[1].values<float>().begin());
  c.tensors[2].values<float>()[0] = 0.9f;
  DecoderConfig config = converter("rtdetr");
  config.unit = "relative";
  const auto width = static_cast<float>(c.context.input_width);
  const auto height = static_cast<float>(c.context.input_height);
  expect_box(c.decode(config).detections.at(0), width / 4, height / 2, width / 2, height);
}

TEST(RtDetr, SurvivesWhatIsNoNumber) {
  DecodeCase c = make_rtdetr_case();
  const auto scores = c.tensors[2].values<float>();
  std::fill(scores.begin(), scores.end(), std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(c.decode(converter("rtdetr")).detections.size(), 0u);
}

TEST(RtDetr, RefusesOtherOutputs) {
  DecodeCase c(320, 320);
  c.add("scores", {1, 300});
  c.add("more", {1, 300});
  c.add("boxes", {1, 300, 4});
  EXPECT_NE(c.create_error(converter("rtdetr")).find("labels [batch,N] (integers)"),
            std::string::npos);
}

}  // namespace
}  // namespace het::test
