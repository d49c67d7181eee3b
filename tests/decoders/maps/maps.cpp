#include <cmath>
#include <limits>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

DecoderConfig in_layout(std::string name, std::string layout) {
  DecoderConfig config = converter(std::move(name));
  config.layout = std::move(layout);
  return config;
}

TEST(AnomalyScores, AloneTheyGiveTheLabel) {
  DecodeCase c(8, 8);
  c.add("pred_score", {1})[0] = 0.75f;
  DecoderConfig config = converter("AnomalyDetection");
  config.image_threshold = 0.5f;
  config.normalization_scale = 1.0f;
  config.pixel_threshold = 0.5f;
  const Results results = c.decode(config);
  ASSERT_EQ(results.classifications.size(), 1u);
  EXPECT_EQ(results.classifications[0].label, "Anomaly");
  EXPECT_FLOAT_EQ(results.classifications[0].confidence, 0.75f);
  EXPECT_TRUE(results.segmentations.empty());
  // One for each picture, beside a map.
  DecodeCase two(8, 8);
  two.inputs[0].desc.shape[0] = 2;
  two.add("anomaly_map", {2, 1, 2, 2});
  const auto scores = two.add("pred_score", {2});
  scores[0] = 0.25f;
  scores[1] = 0.75f;
  EXPECT_EQ(two.decode(config).classifications.at(0).label, "Normal");
  two.context.batch_index = 1;
  EXPECT_EQ(two.decode(config).classifications.at(0).label, "Anomaly");
}

TEST(MapsWithoutABatch, ByTheLayoutOrTwoDimensions) {
  DecoderConfig config = converter("semantic_segmentation");
  DecodeCase c(3, 2);
  const auto rows_first = c.add("classes", {2, 3, 2});
  rows_first[1] = rows_first[11] = 1.0f;  // class 1 of the first and of the last place
  config.layout = "HWC";
  EXPECT_EQ(c.decode(config).segmentations.at(0).class_ids,
            (std::vector<uint16_t>{1, 0, 0, 0, 0, 1}));
  config.layout.clear();
  EXPECT_FALSE(c.create(config)) << "2 is not the batch";
  DecodeCase planes(3, 2);
  planes.add("classes", {2, 2, 3})[6 + 4] = 1.0f;
  config.layout = "CHW";
  EXPECT_EQ(planes.decode(config).segmentations.at(0).class_ids,
            (std::vector<uint16_t>{0, 0, 0, 0, 1, 0}));
  DecodeCase flat(3, 2);
  flat.add("front", {2, 3})[2] = 0.75f;
  config.layout.clear();
  EXPECT_EQ(flat.decode(config).segmentations.at(0).class_ids,
            (std::vector<uint16_t>{0, 0, 1, 0, 0, 0}));
  flat.context.batch_index = 1;
  const auto decoder = flat.create(config).value();
  EXPECT_FALSE(decoder->decode(flat.tensors, flat.context));
}

TEST(SemanticSegmentation, TakesTheBestClassInEitherLayout) {
  // Four places, three classes; the place's classes are 2, 0 (first of equals), 1, 0 (all NaN).
  const float scores[4][3] = {
      {0.1f, 0.2f, 0.7f}, {0.5f, 0.5f, -kInf}, {kNan, 0.1f, 0.0f}, {kNan, kNan, kNan}};
  for (const char* layout : {"NCHW", "NHWC"}) {
    DecodeCase c(20, 10);
    const bool last = layout == std::string("NHWC");
    const auto values = c.add("scores", last ? Shape{1, 1, 4, 3} : Shape{1, 3, 1, 4});
    for (size_t cell = 0; cell < 4; ++cell) {
      for (size_t k = 0; k < 3; ++k) values[last ? cell * 3 + k : k * 4 + cell] = scores[cell][k];
    }
    c.context.transform = {2.0f, 2.0f, 5.0f, -4.0f};
    DecoderConfig config = in_layout("semantic_segmentation", layout);
    config.labels = {"a", "b", "c"};
    const Results results = c.decode(config);
    ASSERT_EQ(results.segmentations.size(), 1u);
    const Segmentation& found = results.segmentations[0];
    EXPECT_EQ(found.class_ids, (std::vector<uint16_t>{2, 0, 1, 0})) << layout;
    EXPECT_EQ(found.width, 4);
    EXPECT_EQ(found.height, 1);
    EXPECT_EQ(found.labels, config.labels);
    EXPECT_EQ(found.x_min, 5.0f);
    EXPECT_EQ(found.y_min, -4.0f);
    EXPECT_EQ(found.x_max, 45.0f);
    EXPECT_EQ(found.y_max, 16.0f);
  }
}

TEST(SemanticSegmentation, FindsTheChannelsByLabelsOrSize) {
  DecodeCase by_size(8, 8);
  by_size.add("scores", {1, 64, 64, 4});
  EXPECT_EQ(by_size.decode(converter("semantic_segmentation")).segmentations.at(0).width, 64);
  DecodeCase unclear(8, 8);
  unclear.add("scores", {1, 6, 5, 8});
  EXPECT_NE(unclear.create_error(converter("semantic_segmentation")).find("\"layout\""),
            std::string::npos);
  DecoderConfig config = converter("semantic_segmentation");
  config.labels.assign(8, "x");
  EXPECT_EQ(unclear.decode(config).segmentations.at(0).width, 5);
  config.labels.assign(7, "x");
  config.layout = "NCHW";
  EXPECT_NE(unclear.create_error(config).find("7 labels for the 6 classes"), std::string::npos);
}

TEST(SemanticSegmentation, MapsOfIdsAndOfOneProbability) {
  DecodeCase ids(8, 8);
  ids.tensors.push_back(Tensor::from<int64_t>({1, 2, 2}, {3, 0, -1, 1'000'000}));
  ids.outputs.push_back({"ids", ids.tensors.back().desc(), std::nullopt});
  EXPECT_EQ(ids.decode(converter("semantic_segmentation")).segmentations.at(0).class_ids,
            (std::vector<uint16_t>{3, 0, 0, 0}));
  DecodeCase mask(8, 8);
  const auto values = mask.add("mask", {1, 1, 2, 2});
  values[0] = 0.5f;
  values[1] = 0.49f;
  values[2] = kNan;
  values[3] = kInf;
  EXPECT_EQ(mask.decode(converter("semantic_segmentation")).segmentations.at(0).class_ids,
            (std::vector<uint16_t>{1, 0, 0, 1}));
}

TEST(SemanticSegmentation, ChecksShapes) {
  for (const Shape& shape : {Shape{1, 5}, Shape{1, 2, 3, 4, 5}, Shape{1, 0, 4}}) {
    DecodeCase c(8, 8);
    c.add("scores", shape);
    EXPECT_NE(c.create_error(converter("semantic_segmentation")).find(to_string(shape)),
              std::string::npos);
  }
}

TEST(DepthEstimation, MeasuresWhatIsValid) {
  DecodeCase c(8, 8);
  const auto values = c.add("depth", {1, 1, 4, 4}, 2.0f);
  values[0] = 0.0f;
  values[1] = kNan;
  values[2] = -3.0f;
  values[5] = 4.0f;  // row 1, column 1: in the middle
  values[15] = 8.0f;
  // Valid: 11 times 2, one 4, one 8. The middle is rows and columns 1 and 2: 4, 2, 2, 2.
  const Results results = c.decode(converter("depth_estimation"));
  ASSERT_EQ(results.tensors.size(), 2u);
  EXPECT_EQ(results.tensors[0].format, "depth_map");
  EXPECT_EQ(results.tensors[0].values.shape(), (Shape{1, 4, 4}));
  EXPECT_EQ(results.tensors[1].format, "depth_metrics");
  const std::vector<float> metrics = to_float_vector(results.tensors[1].values).value();
  const float mean = 34.0f / 13.0f;
  const float variance =
      (11 * (2 - mean) * (2 - mean) + (4 - mean) * (4 - mean) + (8 - mean) * (8 - mean)) / 13.0f;
  const std::vector<float> wanted{2.0f,  mean,         2.0f, 2.0f, 8.0f, std::sqrt(variance),
                                  13.0f, 13.0f / 16.0f};
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(metrics.at(i), wanted[i], 1e-4f) << i;
  EXPECT_EQ(results.classifications.at(0).label, "2.62");
}

TEST(DepthEstimation, NothingValid) {
  DecodeCase c(8, 8);
  c.add("depth", {1, 2, 2}, kNan);
  const Results results = c.decode(converter("depth_estimation"));
  EXPECT_EQ(results.classifications.at(0).label, "n/a");
  EXPECT_EQ(to_float_vector(results.tensors.at(1).values).value()[1], -1.0f);
  DecodeCase colours(8, 8);
  colours.add("depth", {1, 3, 32, 32});
  EXPECT_FALSE(colours.create(converter("depth_estimation")).value()->decode(colours.tensors, {}));
}

DecoderConfig anomaly() {
  DecoderConfig config = converter("AnomalyDetection");
  config.image_threshold = 0.4f;
  config.normalization_scale = 2.0f;
  return config;
}

TEST(AnomalyDetection, ComparesTheLargestScore) {
  DecodeCase c(8, 8);
  const auto values = c.add("map", {1, 1, 2, 2}, 0.1f);
  values[1] = kNan;
  Results results = c.decode(anomaly());
  EXPECT_EQ(results.classifications.at(0).label, "Normal");
  EXPECT_EQ(results.classifications[0].label_id, 0);
  EXPECT_NEAR(results.classifications[0].confidence, 1.0f - (-0.15f + 0.5f), 1e-5f);
  values[3] = 7.0f;  // clamped to 1
  DecoderConfig config = anomaly();
  config.pixel_threshold = 0.5f;
  config.labels = {"good", "bad"};
  results = c.decode(config);
  EXPECT_EQ(results.classifications.at(0).label, "bad");
  EXPECT_NEAR(results.classifications[0].confidence, 0.6f / 2.0f + 0.5f, 1e-5f);
  EXPECT_EQ(results.segmentations.at(0).class_ids, (std::vector<uint16_t>{0, 0, 0, 1}));
}

TEST(AnomalyDetection, APictureMayHaveAScoreOfItsOwn) {
  for (const bool first : {false, true}) {
    DecodeCase c(8, 8);
    if (first) c.add("pred_score", {1, 1}, 0.9f);
    c.add("anomaly_map", {1, 1, 2, 2}, 0.1f);
    if (!first) c.add("pred_score", {1, 1}, 0.9f);
    DecoderConfig config = anomaly();
    config.image_threshold = 0.5f;
    config.normalization_scale = 1.0f;
    const Results results = c.decode(config);
    EXPECT_EQ(results.classifications.at(0).label, "Anomaly");
    EXPECT_NEAR(results.classifications[0].confidence, 0.9f, 1e-6f);
    c.add("pred_label", {1, 1});
    EXPECT_NE(c.create_error(config).find("layer_names"), std::string::npos);
  }
}

TEST(AnomalyDetection, NeedsItsThresholds) {
  DecodeCase c(8, 8);
  c.add("map", {1, 1, 2, 2});
  EXPECT_NE(c.create_error(converter("AnomalyDetection")).find("image_threshold is missing"),
            std::string::npos);
  DecoderConfig config = anomaly();
  config.labels = {"one"};
  EXPECT_NE(c.create_error(config).find("there are 1 labels"), std::string::npos);
}

TEST(Picture, BecomesPixels) {
  DecodeCase c(2, 1);
  const auto values = c.add("out", {1, 3, 1, 2});
  const float planes[] = {0.0f, 1.0f, 0.5f, -2.0f, kNan, 9.0f};  // B, G, R
  std::copy_n(planes, 6, values.begin());
  DecoderConfig config = in_layout("picture", "NCHW");
  const Results results = c.decode(config);
  ASSERT_EQ(results.pictures.size(), 1u);
  const Image& image = results.pictures[0].image;
  EXPECT_EQ(image.format, PixelFormat::BGR);
  EXPECT_EQ(image.width, 2);
  EXPECT_EQ(image.height, 1);
  const int wanted[] = {0, 128, 0, 255, 0, 255};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(static_cast<int>(image.plane(0)[i]), wanted[i]) << i;
  config.rgb = true;
  EXPECT_EQ(c.decode(config).pictures.at(0).image.format, PixelFormat::RGB);
}

TEST(Picture, RangeAndGrey) {
  DecodeCase c(2, 2);
  const auto values = c.add("out", {1, 1, 2, 2}, -1.0f);
  values[3] = 3.0f;
  DecoderConfig config = converter("picture");
  config.range_low = -1.0f;
  config.range_high = 3.0f;
  const Image image = c.decode(config).pictures.at(0).image;
  EXPECT_EQ(image.format, PixelFormat::GRAY8);
  EXPECT_EQ(static_cast<int>(image.plane(0)[0]), 0);
  const std::byte* last = image.plane(0) + image.planes[0].stride_bytes + 1;
  EXPECT_EQ(static_cast<int>(*last), 255);
  DecodeCase two(2, 2);
  two.add("out", {1, 2, 64, 64});
  EXPECT_NE(two.create_error(config).find("1 or 3 channels"), std::string::npos);
}

TEST(TextDetection, RegionsBecomeGrownBoxes) {
  DecodeCase c(80, 40);  // the map has half the resolution
  const auto map = c.add("map", {1, 1, 20, 40});
  for (size_t y = 5; y < 9; ++y) {
    for (size_t x = 10; x < 22; ++x) map[y * 40 + x] = 0.8f;
  }
  map[15 * 40 + 3] = 0.9f;                                    // a speck
  for (size_t x = 30; x < 36; ++x) map[12 * 40 + x] = 0.35f;  // weak
  DecoderConfig config = converter("text_detection_db");
  config.unclip_ratio = 0.0f;
  Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 1u);
  expect_box(results.detections[0], 20, 10, 44, 18);
  EXPECT_NEAR(results.detections[0].confidence, 0.8f, 1e-5f);
  EXPECT_EQ(results.detections[0].label, "text");
  // 12 x 4 cells: area 48, perimeter 32; 48 * 2 / 32 = 3 cells = 6 pixels on each side.
  config.unclip_ratio = 2.0f;
  results = c.decode(config);
  expect_box(results.detections.at(0), 14, 4, 50, 24);
}

TEST(TextDetection, DiagonalNeighboursBelongTogetherAndNanDoesNot) {
  DecodeCase c(16, 16);
  const auto map = c.add("map", {1, 16, 16}, kNan);
  for (size_t i = 2; i < 6; ++i) map[i * 16 + i] = 0.9f;
  DecoderConfig config = converter("text_detection_db");
  config.unclip_ratio = 0.0f;
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 1u);
  expect_box(results.detections[0], 2, 2, 6, 6);
}

TEST(TextDetection, AMapFullOfSpecksIsBounded) {
  DecodeCase c(512, 512);
  const auto map = c.add("map", {1, 1, 512, 512});
  for (size_t y = 0; y < 512; ++y) {
    for (size_t x = 0; x < 512; ++x) map[y * 512 + x] = x % 4 != 3 && y % 4 != 3 ? 0.9f : 0.0f;
  }
  EXPECT_EQ(c.decode(converter("text_detection_db")).detections.size(), 1000u);
}

}  // namespace
}  // namespace het::test
