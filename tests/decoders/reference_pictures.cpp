#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/decoders/match_reference.h"
#include "tests/decoders/reference_run.h"

namespace het::test {
namespace {

std::vector<ReferenceObject> objects(const Results& results) {
  std::vector<ReferenceObject> list;
  for (const Detection& d : results.detections)
    list.push_back({d.label, d.confidence, d.x_min, d.y_min, d.x_max, d.y_max});
  return list;
}

/// A file name as the name of a test, which may have letters, digits and underscores.
std::string test_name(const ::testing::TestParamInfo<const char*>& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

constexpr const char* kDetectors[] = {"yolox_nano",
                                      "fastestdet_352",
                                      "nanodet_m_320",
                                      "yunet_n_320",
                                      "yunet_n_dynamic",
                                      "ultraface_rfb_320",
                                      "ultraface_rfb_640_masked",
                                      "deimv2_atto_320"};

/// Runs one detector over the pictures of its reference; a failure is the test's.
MatchCounts compare_detector(const Places& at, Core& process_core, const std::string& name) {
  // The dynamic twin has no list of its own: bound to 320x320 it is the same network.
  const std::string reference_name = name == "yunet_n_dynamic" ? "yunet_n_320" : name;
  const PictureObjects reference =
      read_picture_reference(at.shared + "/expected/onnx_reference.json", reference_name + ".onnx");
  MatchCounts counts;
  const auto model = load(at, process_core, name);
  EXPECT_TRUE(model) << model.error().message();
  if (!model) return counts;
  const auto request = (*model)->compiled().create_infer_request();
  EXPECT_TRUE(request) << request.error().message();
  if (!request) return counts;
  for (const auto& [picture, wanted] : reference) {
    const Image image = read_picture(at.shared + "/images/" + picture);
    if (image.plane_count == 0) continue;
    counts += match_objects(picture, wanted, objects(run(**model, **request, image)));
  }
  return counts;
}

void print(const std::string& name, const MatchCounts& counts) {
  fmt::print("{} on {}: {} of {} reference objects found, {} extra of {}\n", name, device(),
             counts.found, counts.wanted, counts.extra, counts.given);
  for (const std::string& miss : counts.misses) fmt::print("  {}\n", miss);
}

/// The reference was made from pictures that OpenCV resized with results rounded to 8 bits; ours
/// are not rounded. That moves scores by some thousandths, so that of two neighbouring cells with
/// nearly equal scores the other one may win: nanodet_m_320 on dog_bike_car.jpg has 0.5439 against
/// 0.5407 there, and gives the second box here. Hence the bound holds for all detectors together.
TEST(Detectors, FindTheReferenceObjects) {
  const Places at = places();
  if (at.shared.empty()) GTEST_SKIP() << "the shared data is absent (HET_SHARED_DATA)";
  const auto process_core = core();
  MatchCounts all;
  for (const std::string name : kDetectors) {
    SCOPED_TRACE(name);
    const MatchCounts counts = compare_detector(at, *process_core, name);
    print(name, counts);
    EXPECT_GT(counts.wanted, 0);
    EXPECT_GE(counts.found_share(), 0.95);
    EXPECT_LE(counts.extra_share(), 0.05);
    all += counts;
  }
  fmt::print("together: {} of {} found, {} extra\n", all.found, all.wanted, all.extra);
  EXPECT_GE(all.found_share(), 0.98);
  EXPECT_LE(all.extra_share(), 0.02);
}

class Classifiers : public ::testing::TestWithParam<const char*> {};

TEST_P(Classifiers, GiveTheReferenceClass) {
  const Places at = places();
  if (at.shared.empty()) GTEST_SKIP() << "the shared data is absent (HET_SHARED_DATA)";
  const std::string name = GetParam();
  const auto reference =
      read_top_classes(at.shared + "/expected/onnx_reference.json", name + ".onnx");
  ASSERT_FALSE(reference.empty());
  const auto process_core = core();
  const auto model = load(at, *process_core, name);
  ASSERT_TRUE(model) << model.error().message();
  const auto request = (*model)->compiled().create_infer_request();
  ASSERT_TRUE(request) << request.error().message();
  for (const auto& [picture, wanted] : reference) {
    const Image image = read_picture(at.shared + "/images/" + picture);
    if (image.plane_count == 0) continue;
    const Results results = run(**model, **request, image);
    ASSERT_EQ(results.classifications.size(), 1u) << picture;
    EXPECT_TRUE(wanted.contains(results.classifications[0].label_id))
        << picture << " was taken for " << results.classifications[0].label;
    EXPECT_EQ(results.classifications[0].attribute, "imagenet");
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Classifiers,
                         ::testing::Values("squeezenet1.1_fp16", "mobilenet_v2_qoperator_int8"),
                         test_name);

TEST(Digits, ReadsAnEight) {
  const Places at = places();
  if (at.shared.empty()) GTEST_SKIP() << "the shared data is absent (HET_SHARED_DATA)";
  const auto process_core = core();
  const auto model = load(at, *process_core, "mnist-8");
  ASSERT_TRUE(model) << model.error().message();
  const auto request = (*model)->compiled().create_infer_request();
  ASSERT_TRUE(request) << request.error().message();
  const Results results = run(**model, **request, read_picture(at.shared + "/images/mnist_28.png"));
  ASSERT_EQ(results.classifications.size(), 1u);
  EXPECT_EQ(results.classifications[0].label, "8");
}

}  // namespace
}  // namespace het::test
