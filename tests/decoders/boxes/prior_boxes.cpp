#include <cmath>
#include <random>

#include "inference/decoders/descriptors/model_proc_text.h"
#include "inference/decoders/model_proc.h"
#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

using SizeLists = std::vector<std::vector<float>>;
const SizeLists kRetinaSizes{{16, 32}, {64, 128}, {256, 512}};
const SizeLists kSlimSizes{{10, 16, 24}, {32, 48}, {64, 96}, {128, 192, 256}};

/// One prior as the family's code lists them: centre and sides as shares of the picture.
struct ListedPrior {
  double x, y, width, height;
};

/// The family's way, for grids rounded up or down.
std::vector<ListedPrior> listed_priors(int width, int height, const SizeLists& sizes, bool up) {
  std::vector<ListedPrior> priors;
  int stride = 8;
  for (const std::vector<float>& of_level : sizes) {
    const int rows = up ? (height + stride - 1) / stride : height / stride;
    const int columns = up ? (width + stride - 1) / stride : width / stride;
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        for (const double size : of_level)
          priors.push_back({(j + 0.5) * stride / width, (i + 0.5) * stride / height, size / width,
                            size / height});
      }
    }
    stride *= 2;
  }
  return priors;
}

struct PriorRows {
  std::span<float> boxes, scores, points, quality;
};

DecodeCase retina_case(int width, int height, const SizeLists& sizes, PriorRows& rows,
                       float value = 0.0f, int64_t batch = 1) {
  DecodeCase c(width, height);
  c.inputs[0].desc.shape[0] = batch;
  const auto count = static_cast<int64_t>(listed_priors(width, height, sizes, true).size());
  rows.boxes = c.add("output", {batch, count, 4}, value);
  rows.scores = c.add("outputt", {batch, count, 2}, value);
  rows.points = c.add("outputtt", {batch, count, 10}, value);
  return c;
}

struct ListedFace {
  double score;
  double box[4];
  double mouth_y;
};

/// decode() and decode_landm() of the family: variances 0.1 and 0.2, then times the picture.
std::vector<ListedFace> listed_faces(const std::vector<ListedPrior>& priors, const PriorRows& rows,
                                     double width, double height, double threshold) {
  std::vector<ListedFace> faces;
  for (size_t i = 0; i < priors.size(); ++i) {
    const ListedPrior& prior = priors[i];
    const double score = rows.scores[2 * i + 1];
    if (score < threshold) continue;
    const float* loc = &rows.boxes[4 * i];
    const double w = prior.width * std::exp(loc[2] * 0.2);
    const double h = prior.height * std::exp(loc[3] * 0.2);
    const double x = prior.x + loc[0] * 0.1 * prior.width - w / 2;
    const double y = prior.y + loc[1] * 0.1 * prior.height - h / 2;
    faces.push_back({score,
                     {x * width, y * height, (x + w) * width, (y + h) * height},
                     (prior.y + rows.points[10 * i + 9] * 0.1 * prior.height) * height});
  }
  std::ranges::stable_sort(faces, std::ranges::greater{}, &ListedFace::score);
  return faces;
}

TEST(PriorBoxes, RetinaFaceAndSlimAreDecodedAsWithListsOfPriors) {
  for (const SizeLists& sizes : {kRetinaSizes, kSlimSizes}) {
    PriorRows rows;
    DecodeCase c = retina_case(100, 72, sizes, rows);  // no multiples of the strides
    std::mt19937 random(11);
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    for (std::span<float> part : {rows.boxes, rows.scores, rows.points})
      std::ranges::generate(part, [&] { return uniform(random); });
    DecoderConfig config = converter("prior_boxes");
    config.threshold = 0.9f;
    config.iou_threshold = 1.0f;
    const Results results = c.decode(config);
    const auto expected = listed_faces(listed_priors(100, 72, sizes, true), rows, 100, 72, 0.9f);
    ASSERT_EQ(results.detections.size(), expected.size());
    EXPECT_GT(expected.size(), 5u);
    for (size_t i = 0; i < expected.size(); ++i) {
      const Detection& found = results.detections[i];
      EXPECT_NEAR(found.confidence, expected[i].score, 1e-6);
      const double* box = expected[i].box;
      EXPECT_NEAR(found.x_min, box[0], 1e-3);
      EXPECT_NEAR(found.y_min, box[1], 1e-3);
      EXPECT_NEAR(found.x_max, box[2], 1e-3);
      EXPECT_NEAR(found.y_max, box[3], 1e-3);
      EXPECT_NEAR(found.landmarks.points.at(4).y, expected[i].mouth_y, 1e-3);
    }
  }
}

TEST(PriorBoxes, KeysOfADescriptorSayWhatPriorsThereAre) {
  const auto parsed = parse_model_proc(R"({"json_schema_version": "2.2.0", "input_preproc": [],
    "output_postproc": [{"converter": "prior_boxes", "strides": [16, 32], "variances": [0.5, 1],
      "min_sizes": [[10, 20.5], [64]], "do_cls_softmax": true, "labels": ["face"]}]})",
                                       "text");
  ASSERT_TRUE(parsed) << parsed.error().message();
  const DecoderConfig& config = parsed->outputs[0];
  EXPECT_EQ(config.min_sizes, (SizeLists{{10, 20.5}, {64}}));
  const auto again = parse_model_proc(to_text(*parsed), "again");
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->outputs[0].min_sizes, config.min_sizes);
  EXPECT_EQ(again->outputs[0].variances, (std::vector<float>{0.5f, 1.0f}));

  DecodeCase c(64, 32);  // 2x4 cells with two priors, 1x2 with one
  const auto boxes = c.add("boxes", {1, 18, 4});
  const auto scores = c.add("scores", {1, 18, 2});
  scores[2 * 17 + 1] = std::log(3.0f);
  boxes[4 * 17] = 0.25f;
  boxes[4 * 17 + 3] = std::log(0.5f);
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 18u - 17u + 17u);  // 0.5 of two equal logits counts, too
  EXPECT_NEAR(results.detections[0].confidence, 0.75f, 1e-6f);
  EXPECT_EQ(results.detections[0].label, "face");
  const float x = 48 + 0.25f * 0.5f * 64;
  expect_box(results.detections[0], x - 32, 16 - 16, x + 32, 16 + 16);
  EXPECT_TRUE(results.detections[0].landmarks.points.empty());
}

TEST(PriorBoxes, BadKeysAreErrors) {
  const auto message = [](const std::string& keys) {
    const auto parsed =
        parse_model_proc(R"({"json_schema_version": "2.2.0", "output_postproc": [{"converter":
                         "prior_boxes", )" +
                             keys + "}]}",
                         "text");
    return parsed ? "" : parsed.error().message();
  };
  EXPECT_EQ(message(R"("min_sizes": [[1], [2, 3]])"), "");
  for (const char* keys : {R"("min_sizes": [1, 2])", R"("min_sizes": [[]])", R"("min_sizes": 3)",
                           R"("min_sizes": [[0]])", R"("min_sizes": [["a"]])"})
    EXPECT_NE(message(keys).find("output_postproc[0].min_sizes"), std::string::npos) << keys;
  for (const char* keys : {R"("variances": [0.1])", R"("variances": [0.1, 0])",
                           R"("variances": [0.1, 0.2, 0.1, 0.2])", R"("variances": [])"})
    EXPECT_NE(message(keys).find("output_postproc[0].variances"), std::string::npos) << keys;
}

/// YuNet as OpenCV published it in 2022: loc [N,14], conf [N,2], iou [N,1], grids rounded down.
DecodeCase older_yunet_case(int width, int height, PriorRows& rows,
                            std::vector<ListedPrior>& priors) {
  DecodeCase c(width, height);
  priors = listed_priors(width, height, kSlimSizes, false);
  const auto count = static_cast<int64_t>(priors.size());
  rows.boxes = c.add("loc", {count, 14});
  rows.scores = c.add("conf", {count, 2});
  rows.quality = c.add("iou", {count, 1});
  return c;
}

TEST(PriorBoxes, YuNetsOlderFormHasPointsBehindTheBoxAndAQuality) {
  PriorRows rows;
  std::vector<ListedPrior> priors;
  DecodeCase c = older_yunet_case(160, 120, rows, priors);
  EXPECT_EQ(priors.size(), 1076u);
  const size_t row = 905;  // stride 16
  rows.scores[2 * row + 1] = 0.81f;
  rows.quality[row] = 1.5f;  // clamped to 1
  rows.boxes[14 * row + 4 + 5] = -2.0f;
  const Results results = c.decode(converter("prior_boxes"));
  ASSERT_EQ(results.detections.size(), 1u);
  EXPECT_NEAR(results.detections[0].confidence, 0.9f, 1e-6f);
  const ListedPrior& prior = priors[row];
  expect_box(results.detections[0], static_cast<float>((prior.x - prior.width / 2) * 160),
             static_cast<float>((prior.y - prior.height / 2) * 120),
             static_cast<float>((prior.x + prior.width / 2) * 160),
             static_cast<float>((prior.y + prior.height / 2) * 120));
  EXPECT_NEAR(results.detections[0].landmarks.points.at(2).y,
              (prior.y - 2 * 0.1 * prior.height) * 120, 1e-3);
}

TEST(PriorBoxes, CornersOfPlatesAreFourOfFivePointsAndTheBoxIsAroundThem) {
  PriorRows rows;
  std::vector<ListedPrior> priors;
  DecodeCase c = older_yunet_case(320, 240, rows, priors);
  const size_t row = 3;  // of 10 pixels at the second cell of stride 8: centre (12, 4)
  rows.scores[2 * row + 1] = 1.0f;
  rows.quality[row] = 0.64f;
  const float points[] = {-3, -1, 5, -2, 99, 99, 4, 2, -4, 1};
  std::copy_n(points, 10, &rows.boxes[14 * row + 4]);
  DecoderConfig config = converter("prior_boxes");
  config.point_names = {"a", "b", "c", "d"};
  const Results results = c.decode(config);
  ASSERT_EQ(results.detections.size(), 1u);
  const Detection& plate = results.detections[0];
  EXPECT_NEAR(plate.confidence, 0.8f, 1e-6f);
  expect_box(plate, 12 - 4, 4 - 2, 12 + 5, 4 + 2);
  ASSERT_EQ(plate.landmarks.points.size(), 4u);
  EXPECT_NEAR(plate.landmarks.points[2].x, 12 + 4, 1e-4f);
  EXPECT_NEAR(plate.landmarks.points[3].y, 4 + 1, 1e-4f);
  rows.boxes[14 * row + 4 + 7] = kNan;
  EXPECT_TRUE(c.decode(config).detections.empty());
}

TEST(PriorBoxes, TheSecondPictureOfABatch) {
  PriorRows rows;
  DecodeCase c = retina_case(64, 64, kRetinaSizes, rows, 0.0f, 2);
  const size_t count = rows.scores.size() / 4;
  rows.scores[2 * (count + 1) + 1] = 0.9f;  // prior of 32 pixels at the first cell
  EXPECT_TRUE(c.decode(converter("prior_boxes")).detections.empty());
  c.context.batch_index = 1;
  const Results results = c.decode(converter("prior_boxes"));
  ASSERT_EQ(results.detections.size(), 1u);
  expect_box(results.detections[0], 4 - 16, 4 - 16, 4 + 16, 4 + 16);
}

TEST(PriorBoxes, SurvivesWhatIsNoNumber) {
  for (const float bad : {kNan, kInf, -kInf}) {
    PriorRows rows;
    DecodeCase c = retina_case(64, 64, kRetinaSizes, rows, bad);
    EXPECT_TRUE(c.decode(converter("prior_boxes")).detections.empty()) << bad;
    DecoderConfig logits = converter("prior_boxes");
    logits.class_softmax = true;
    EXPECT_TRUE(c.decode(logits).detections.empty()) << bad;
  }
}

TEST(PriorBoxes, RefusesOtherOutputs) {
  PriorRows rows;
  DecodeCase count = retina_case(64, 64, kRetinaSizes, rows);
  for (Port& port : count.outputs) port.desc.shape[1] += 1;
  EXPECT_NE(count.create_error(converter("prior_boxes")).find("give \"strides\" and \"min_sizes\""),
            std::string::npos);
  DecodeCase uneven = retina_case(64, 64, kRetinaSizes, rows);
  uneven.outputs[0].desc.shape[1] += 1;
  EXPECT_NE(uneven.create_error(converter("prior_boxes")).find("reads boxes [batch,N,4]"),
            std::string::npos);
  DecodeCase labelled = retina_case(64, 64, kRetinaSizes, rows);
  DecoderConfig config = converter("prior_boxes");
  config.labels = {"background", "face"};
  EXPECT_NE(labelled.create_error(config).find("scores [batch,N,3]"), std::string::npos);
  config.labels = {};
  config.min_sizes = {{16, 32}};
  config.strides = {8, 16};
  EXPECT_NE(labelled.create_error(config).find("2 strides and min_sizes of 1"), std::string::npos);
}

}  // namespace
}  // namespace het::test
