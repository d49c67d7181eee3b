#include <limits>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

void set_row(std::span<float> values, size_t row, const std::array<float, 7>& content) {
  std::copy(content.begin(), content.end(), values.begin() + static_cast<std::ptrdiff_t>(row * 7));
}

TEST(YoloV5, ReadsDecodedRows) {
  for (const char* name : {"yolo_v5", "yolo_v7"}) {
    DecodeCase c(640, 480);
    const auto values = c.add("output0", {2, 3, 7});
    set_row(values, 3, {100, 60, 40, 20, 0.9f, 0.1f, 0.9f});
    set_row(values, 4, {101, 60, 40, 20, 0.9f, 0.1f, 0.8f});  // the same object again
    set_row(values, 5, {300, 60, 40, 20, 0.9f, 0.5f, 0.1f});  // 0.45: below the threshold
    c.context.batch_index = 1;
    c.context.transform = {0.5f, 2.0f, 0.0f, 1.0f};
    const Results results = c.decode(converter(name));
    ASSERT_EQ(results.detections.size(), 1u);
    EXPECT_EQ(results.detections[0].label_id, 1);
    EXPECT_NEAR(results.detections[0].confidence, 0.81f, 1e-6f);
    expect_box(results.detections[0], 40, 101, 60, 141);
  }
}

TEST(YoloV5, TrainingExportsAddFeatureMaps) {
  DecodeCase c(640, 640);
  set_row(c.add("output", {1, 1, 7}), 0, {100, 60, 40, 20, 1.0f, 0.0f, 1.0f});
  c.add("map", {1, 3, 80, 80, 7});
  EXPECT_EQ(c.decode(converter("yolo_v5")).detections.size(), 1u);
}

TEST(YoloV5, SurvivesWhatIsNoNumber) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    DecodeCase c(64, 64);
    c.add("output0", {1, 4, 7}, bad);
    EXPECT_EQ(c.decode(converter("yolo_v5")).detections.size(), 0u) << bad;
  }
}

TEST(YoloV5, RefusesOtherShapes) {
  DecodeCase narrow(64, 64);
  narrow.add("output0", {1, 4, 5});
  EXPECT_NE(narrow.create_error(converter("yolo_v5")).find("'output0' is float32[1,4,5]"),
            std::string::npos);
  DecodeCase maps(64, 64);
  maps.add("map", {1, 21, 8, 8});
  EXPECT_NE(maps.create_error(converter("yolo_v5")).find("\"anchors\""), std::string::npos);
}

}  // namespace
}  // namespace het::test
