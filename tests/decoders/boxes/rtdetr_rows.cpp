#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

TEST(RtdetrRows, CentresAndSizesAsSharesOfThePicture) {
  DecodeCase c(200, 100);
  const auto rows = c.add("output0", {1, 3, 6});
  const std::array<float, 18> values{0.5f, 0.4f, 0.2f, 0.2f, 0.9f, 7,    0.5f, 0.5f, 0.1f,
                                     0.1f, 0.1f, 1,    0.5f, 0.5f, kNan, 0.1f, 0.8f, 1};
  std::ranges::copy(values, rows.begin());
  const Results results = c.decode(converter("rtdetr_rows"));
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_EQ(results.detections[0].label_id, 7);
  EXPECT_FLOAT_EQ(results.detections[0].confidence, 0.9f);
  expect_box(results.detections[0], 80, 30, 120, 50);
}

TEST(RtdetrRows, AScoreForEachClass) {
  DecodeCase c(200, 100);
  const auto rows = c.add("output0", {1, 1, 7}, 0.1f);
  rows[5] = 0.7f;
  DecoderConfig config = converter("rtdetr_rows");
  config.labels = {"a", "b", "c"};
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_EQ(results.detections[0].label, "b");
  config.labels = {"a"};
  EXPECT_NE(c.create_error(config).find("each of the 1 classes"), std::string::npos);
}

}  // namespace
}  // namespace het::test
