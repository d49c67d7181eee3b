/// The descriptors of the IR models: each loads its model and reads one picture. What is expected
/// is what a person sees on the picture, not what we found there.

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/decoders/reference_run.h"

namespace het::test {
namespace {

/// A model of Open Model Zoo with its descriptor, on parts of the shared pictures.
class IrModel {
 public:
  IrModel(const std::string& name, const std::string& precision, const std::string& file = "") {
    const std::string stem = file.empty() ? name : file;
    VisionModelSettings settings;
    settings.model = at_.shared + "/models/ir/" + name + "/" + precision + "/" + stem + ".xml";
    settings.model_proc = at_.descriptors + "/" + stem + ".json";
    settings.device = device();
    if (settings.device == "CPU") settings.properties["INFERENCE_NUM_THREADS"] = "1";
    auto loaded = VisionModel::load(*core_, settings);
    EXPECT_TRUE(loaded) << loaded.error().message();
    if (!loaded) return;
    model_ = *loaded;
    request_ = std::move(model_->compiled().create_infer_request().value());
  }

  /// What is found in this part of a picture (none: all of it); nothing after a failure.
  Results read(const std::string& picture, const Rect& roi = {}) {
    if (!request_) return {};
    const Image image = read_picture(at_.shared + "/images/" + picture);
    return run(*model_, *request_, image, roi.width == 0 ? image.full() : roi);
  }

 private:
  Places at_ = places();
  std::shared_ptr<Core> core_ = core();
  std::shared_ptr<VisionModel> model_;
  std::unique_ptr<InferRequest> request_;
};

class IrDescriptors : public ::testing::Test {
 protected:
  void SetUp() override {
    if (places().shared.empty()) GTEST_SKIP() << "the shared data is absent (HET_SHARED_DATA)";
  }
};

TEST_F(IrDescriptors, LandmarksRegressionFindsFivePointsOfAFace) {
  const Rect face{556, 84, 194, 303};
  for (const char* precision : {"FP16", "FP32"}) {
    const Results results =
        IrModel("landmarks-regression-retail-0009", precision).read("people2.jpeg", face);
    ASSERT_EQ(results.keypoints.size(), 1u);
    const Landmarks& found = results.keypoints[0].landmarks;
    ASSERT_EQ(found.points.size(), 5u);
    EXPECT_EQ(found.names,
              (std::vector<std::string>{"eye_l", "eye_r", "nose_tip", "mouth_l", "mouth_r"}));
    const std::vector<Point>& p = found.points;
    EXPECT_LT(p[0].x, p[1].x);
    EXPECT_LT(p[3].x, p[4].x);
    for (const int eye : {0, 1}) EXPECT_LT(p[static_cast<size_t>(eye)].y, p[2].y);
    for (const int corner : {3, 4}) EXPECT_LT(p[2].y, p[static_cast<size_t>(corner)].y);
    for (const Point& point : p) {
      EXPECT_GT(point.x, 556.0f);
      EXPECT_LT(point.x, 750.0f);
      EXPECT_GT(point.y, 84.0f);
      EXPECT_LT(point.y, 387.0f);
    }
  }
}

/// The shared pictures have no legible Chinese plate; the text of an empty one is short or absent.
TEST_F(IrDescriptors, LicensePlateReadsText) {
  const Results results = IrModel("license-plate-recognition-barrier-0001", "FP16")
                              .read("car_1.png", {90, 303, 52, 36});
  ASSERT_EQ(results.classifications.size(), 1u);
  EXPECT_EQ(results.classifications[0].attribute, "license_plate");
  EXPECT_LE(results.classifications[0].label.size(), 40u) << results.classifications[0].label;
}

TEST_F(IrDescriptors, PersonAttributesWithTwoPointsOfColour) {
  const Rect person{896, 254, 197, 541};
  const Results results =
      IrModel("person-attributes-recognition-crossroad-0230", "FP16").read("people1.jpeg", person);
  ASSERT_EQ(results.classifications.size(), 1u);
  EXPECT_EQ(results.classifications[0].attribute, "person-attributes");
  const std::string& label = results.classifications[0].label;
  EXPECT_TRUE(label.starts_with("M:") || label.starts_with("F:")) << label;
  ASSERT_EQ(results.keypoints.size(), 2u);
  ASSERT_EQ(results.keypoints[0].landmarks.names, std::vector<std::string>{"top_color"});
  ASSERT_EQ(results.keypoints[1].landmarks.names, std::vector<std::string>{"bottom_color"});
  const Point top = results.keypoints[0].landmarks.points.at(0);
  const Point bottom = results.keypoints[1].landmarks.points.at(0);
  EXPECT_LT(top.y, bottom.y);
  for (const Point& point : {top, bottom}) {
    EXPECT_GT(point.x, 896.0f);
    EXPECT_LT(point.x, 896.0f + 197.0f);
    EXPECT_GT(point.y, 254.0f);
    EXPECT_LT(point.y, 254.0f + 541.0f);
  }
}

TEST_F(IrDescriptors, VehicleAttributesSayARedCar) {
  const Results results = IrModel("vehicle-attributes-recognition-barrier-0039", "FP16")
                              .read("road1.jpg", {721, 437, 81, 68});
  ASSERT_EQ(results.classifications.size(), 2u);
  EXPECT_EQ(results.classifications[0].attribute, "color");
  EXPECT_EQ(results.classifications[0].label, "red");
  EXPECT_EQ(results.classifications[1].attribute, "type");
  EXPECT_EQ(results.classifications[1].label, "car");
  for (const Classification& found : results.classifications) EXPECT_GT(found.confidence, 0.5f);
}

float cosine(const std::vector<float>& a, const std::vector<float>& b) {
  const auto dot = [](const auto& x, const auto& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0f);
  };
  return dot(a, b) / std::sqrt(dot(a, a) * dot(b, b));
}

/// The same person in a slightly larger box is nearer than another person.
TEST_F(IrDescriptors, ReidentificationTellsPersonsApart) {
  for (const auto& [name, precision] :
       {std::pair{"person-reidentification-retail-0287", "FP16-INT8"},
        std::pair{"person-reidentification-retail-0288", "FP16"},
        std::pair{"person-reidentification-retail-0288", "FP32"}}) {
    IrModel model(name, precision);
    std::vector<std::vector<float>> vectors;
    for (const Rect& box :
         {Rect{738, 177, 267, 794}, Rect{730, 170, 283, 806}, Rect{1483, 155, 243, 752}}) {
      const Results results = model.read("ji_peds_0.jpg", box);
      ASSERT_EQ(results.tensors.size(), 1u) << name;
      EXPECT_EQ(results.tensors[0].format, "cosine_distance");
      EXPECT_EQ(results.tensors[0].attribute, "person_id");
      vectors.push_back(to_float_vector(results.tensors[0].values).value());
      ASSERT_EQ(vectors.back().size(), 256u);
    }
    EXPECT_GT(cosine(vectors[0], vectors[1]), 0.9f) << name << " " << precision;
    EXPECT_LT(cosine(vectors[0], vectors[2]), cosine(vectors[0], vectors[1])) << name;
  }
}

/// The lower middle of a picture taken above a motorway is road.
TEST_F(IrDescriptors, RoadSegmentationFindsTheRoad) {
  const Results results = IrModel("road-segmentation-adas-0001", "FP32").read("road1.jpg");
  ASSERT_EQ(results.segmentations.size(), 1u);
  const Segmentation& found = results.segmentations[0];
  ASSERT_EQ(found.width, 896);
  ASSERT_EQ(found.height, 512);
  EXPECT_EQ(found.labels, (std::vector<std::string>{"BG", "road", "curb", "mark"}));
  int64_t road = 0;
  for (const uint16_t id : found.class_ids) road += id == 1 ? 1 : 0;
  EXPECT_GT(road, 896 * 512 / 10);
  for (int column = 0; column < 896; ++column)
    EXPECT_NE(found.class_ids[static_cast<size_t>(column)], 1) << "sky, column " << column;
}

constexpr int kColumns = 16;
constexpr int kRows = 9;

/// Mean of each cell when a grey picture is cut into 16 x 9 cells.
std::vector<double> cell_means(const cv::Mat& grey) {
  std::vector<double> means;
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      const cv::Mat cell =
          grey(cv::Range(row * grey.rows / kRows, (row + 1) * grey.rows / kRows),
               cv::Range(column * grey.cols / kColumns, (column + 1) * grey.cols / kColumns));
      means.push_back(cv::mean(cell)[0]);
    }
  }
  return means;
}

double correlation(std::vector<double> a, std::vector<double> b) {
  const auto center = [](std::vector<double>& values) {
    const double mean =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    for (double& value : values) value -= mean;
  };
  const auto dot = [](const auto& x, const auto& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
  };
  center(a);
  center(b);
  return dot(a, b) / std::sqrt(dot(a, a) * dot(b, b));
}

/// Three times as large, with light and dark at the same places.
TEST_F(IrDescriptors, TextSuperResolutionEnlargesThePicture) {
  const Results results =
      IrModel("text-image-super-resolution-0001", "FP32").read("ocr_sample.jpg");
  ASSERT_EQ(results.pictures.size(), 1u);
  const Image& large = results.pictures[0].image;
  EXPECT_EQ(results.pictures[0].attribute, "enlarged");
  ASSERT_EQ(large.format, PixelFormat::GRAY8);
  ASSERT_EQ(large.width, 1920);
  ASSERT_EQ(large.height, 1080);
  const ImagePlane& plane = large.planes[0];
  const cv::Mat enlarged(large.height, large.width, CV_8U, plane.buffer->host() + plane.offset,
                         static_cast<size_t>(plane.stride_bytes));
  const cv::Mat grey = cv::imread(places().shared + "/images/ocr_sample.jpg", cv::IMREAD_GRAYSCALE);
  ASSERT_FALSE(grey.empty());
  EXPECT_GT(correlation(cell_means(enlarged), cell_means(grey)), 0.95);
}

TEST_F(IrDescriptors, SampLeNetGivesOneOfTenClasses) {
  const Results results = IrModel("samplenet", "FP32", "SampLeNet").read("fish.png");
  ASSERT_EQ(results.classifications.size(), 1u);
  EXPECT_EQ(results.classifications[0].attribute, "class");
  EXPECT_GE(results.classifications[0].label_id, 0);
  EXPECT_LT(results.classifications[0].label_id, 10);
  EXPECT_GE(results.classifications[0].confidence, 0.1f);  // the largest of ten that add up to 1
  EXPECT_LE(results.classifications[0].confidence, 1.0f);
}

}  // namespace
}  // namespace het::test
