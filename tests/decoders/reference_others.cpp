/// Segmentation, embeddings and texts of known models beside the reference results.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/decoders/reference_run.h"

namespace het::test {
namespace {

using nlohmann::json;

/// The reference results of one model by picture; null where there are none.
json reference_of(const Places& at, const std::string& name) {
  std::ifstream file(at.shared + "/expected/onnx_reference.json");
  const json all = json::parse(file);
  return all["results"].value(name + ".onnx", json());
}

/// A model with one request; a failure is the test's.
struct Running {
  std::shared_ptr<Core> process_core = core();
  std::shared_ptr<VisionModel> model;
  std::unique_ptr<InferRequest> request;

  Running(const Places& at, const std::string& name) {
    auto loaded = load(at, *process_core, name);
    EXPECT_TRUE(loaded) << loaded.error().message();
    if (!loaded) return;
    model = *loaded;
    request = std::move(model->compiled().create_infer_request().value());
  }
};

class Segmenters : public ::testing::TestWithParam<const char*> {};

/// The reference rounds resized pixels to 8 bits, which moves borders of classes by single places.
TEST_P(Segmenters, CountTheReferencePixels) {
  const Places at = places();
  if (at.shared.empty()) GTEST_SKIP() << "the shared data is absent (HET_SHARED_DATA)";
  Running running(at, GetParam());
  ASSERT_TRUE(running.request);
  const json pictures = reference_of(at, GetParam());
  ASSERT_FALSE(pictures.empty());
  for (const auto& [picture, reference] : pictures.items()) {
    const Image image = read_picture(at.shared + "/images/" + picture);
    const Results results = run(*running.model, *running.request, image);
    ASSERT_EQ(results.segmentations.size(), 1u);
    const Segmentation& found = results.segmentations[0];
    std::map<std::string, int64_t> counts;
    for (uint16_t id : found.class_ids) ++counts[found.labels.at(id)];
    const double places_of_all = static_cast<double>(found.class_ids.size());
    double moved = 0.0;
    for (const auto& [label, count] : reference["result"].items()) {
      moved += std::abs(static_cast<double>(counts[label]) - count.get<double>());
      counts.erase(label);
    }
    for (const auto& [label, count] : counts) moved += static_cast<double>(count);
    fmt::print("{} on {}: {:.3f} % of the places have another class\n", GetParam(), picture,
               50.0 * moved / places_of_all);
    EXPECT_LE(moved / 2.0, 0.005 * places_of_all) << picture;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Segmenters,
                         ::testing::Values("deeplab_v3_257", "road_segmentation_0001"));

TEST(Embeddings, AgreeWithTheReference) {
  const Places at = places();
  if (at.shared.empty()) GTEST_SKIP() << "the shared data is absent (HET_SHARED_DATA)";
  Running running(at, "person_reid_0288_nhwc");
  ASSERT_TRUE(running.request);
  int compared = 0;
  const json crops = reference_of(at, "person_reid_0288_nhwc");
  for (const auto& [where, reference] : crops.items()) {
    char picture[64] = {};
    int x_min = 0, y_min = 0, x_max = 0, y_max = 0;
    if (std::sscanf(where.c_str(), "%63s person@%d,%d,%d,%d", picture, &x_min, &y_min, &x_max,
                    &y_max) != 5 ||
        !reference.contains("raw"))
      continue;
    const Image image = read_picture(at.shared + "/images/" + picture);
    const Results results =
        run(*running.model, *running.request, image, {x_min, y_min, x_max - x_min, y_max - y_min});
    ASSERT_EQ(results.tensors.size(), 1u);
    EXPECT_EQ(results.tensors[0].format, "cosine_distance");
    const std::vector<float> found = to_float_vector(results.tensors[0].values).value();
    // Cosine over the values that the reference lists.
    const json& raw = reference["raw"]["Identity:0"];
    double dot = 0.0, own = 0.0, theirs = 0.0;
    for (size_t i = 0; i < raw["sample_idx"].size(); ++i) {
      const double a = static_cast<double>(found.at(raw["sample_idx"][i].get<size_t>()));
      const double b = raw["sample"][i].get<double>();
      dot += a * b;
      own += a * a;
      theirs += b * b;
    }
    EXPECT_GE(dot / std::sqrt(own * theirs), 0.995) << where;
    ++compared;
  }
  EXPECT_GE(compared, 3);
}

TEST(Texts, LinesAreFound) {
  const Places at = places();
  if (at.shared.empty()) GTEST_SKIP() << "the shared data is absent (HET_SHARED_DATA)";
  Running running(at, "ppocr_det_en_v3");
  ASSERT_TRUE(running.request);
  const Image image = read_picture(at.shared + "/images/ocr_sample.jpg");
  const Results results = run(*running.model, *running.request, image);
  const json regions =
      reference_of(at, "ppocr_det_en_v3")["ocr_sample.jpg"]["result"]["regions_xywh_area"];
  ASSERT_EQ(regions.size(), 7u);
  EXPECT_EQ(results.detections.size(), regions.size());
  for (const json& region : regions) {
    const float width = region[2].get<float>();
    const float height = region[3].get<float>();
    const float grown = width * height * 1.5f / (2.0f * (width + height));
    const float x_scale = static_cast<float>(image.width) / 640.0f;
    const float y_scale = static_cast<float>(image.height) / 416.0f;
    const float x_min = (region[0].get<float>() - grown) * x_scale;
    const float y_min = (region[1].get<float>() - grown) * y_scale;
    const float x_max = (region[0].get<float>() + width + grown) * x_scale;
    const float y_max = (region[1].get<float>() + height + grown) * y_scale;
    const bool found =
        std::any_of(results.detections.begin(), results.detections.end(), [&](const Detection& d) {
          return std::abs(d.x_min - x_min) < 5 && std::abs(d.y_min - y_min) < 5 &&
                 std::abs(d.x_max - x_max) < 5 && std::abs(d.y_max - y_max) < 5;
        });
    EXPECT_TRUE(found) << region.dump() << " at " << x_min << "," << y_min;
  }
}

/// The reference stretched its crops to the width that it names, so the descriptor, which keeps the
/// letters' proportions, does not serve here.
TEST(Texts, AreRead) {
  const Places at = places();
  if (at.shared.empty()) GTEST_SKIP() << "the shared data is absent (HET_SHARED_DATA)";
  const std::string descriptor = testing::TempDir() + "het_stretched_text.json";
  std::ofstream(descriptor) << R"({"json_schema_version": "2.2.0", "input_preproc": [
      {"format": "image", "layer_name": "x", "shape": [1, 3, 32, 320],
       "params": {"color_space": "BGR", "range": [-1, 1]}}],
      "output_postproc": [{"converter": "paddle_ocr_ctc"}]})";
  VisionModelSettings settings;
  settings.model = at.shared + "/models/onnx/ppocr_rec_en_number_v2.onnx";
  settings.model_proc = descriptor;
  settings.labels_file = at.descriptors + "/labels/en_dict.txt";
  settings.device = device();
  if (settings.device == "CPU") settings.properties["INFERENCE_NUM_THREADS"] = "1";
  const auto process_core = core();
  const Image image = read_picture(at.shared + "/images/ocr_sample.jpg");
  size_t letters = 0;
  const json crops = reference_of(at, "ppocr_rec_en_number_v2");
  for (const auto& [where, reference] : crops.items()) {
    int x_min = 0, y_min = 0, x_max = 0, y_max = 0;
    if (std::sscanf(where.c_str(), "ocr_sample.jpg crop %d,%d,%d,%d -> 32x%d", &x_min, &y_min,
                    &x_max, &y_max, &settings.picture_width) != 5)
      continue;
    const auto model = VisionModel::load(*process_core, settings);
    ASSERT_TRUE(model) << model.error().message();
    const auto request = (*model)->compiled().create_infer_request().value();
    const Results results =
        run(**model, *request, image, {x_min, y_min, x_max - x_min, y_max - y_min});
    const std::string text =
        results.classifications.empty() ? "" : results.classifications[0].label;
    const std::string wanted = reference["result"]["text"].get<std::string>();
    EXPECT_EQ(text, wanted) << where;
    letters += wanted.size();
  }
  std::remove(descriptor.c_str());
  EXPECT_GE(letters, 40u);
}

}  // namespace
}  // namespace het::test
