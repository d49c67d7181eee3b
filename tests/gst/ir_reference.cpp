/// OpenVINO's own results of the shared IR detectors, against heterodetect with nothing but the
/// model file: no model-proc, no labels.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reference_run.h"
#include "test_files.h"

namespace het::gst_test {
namespace {

using test::MatchCounts;

struct Bounds {
  float iou;
  double found;
};
constexpr Bounds kFloat{0.9f, 0.98};
constexpr Bounds kInt8{0.85f, 0.97};
constexpr double kMostExtra = 0.02;

TEST(IrReference, PicturesAndVideosTogether) {
  const auto file = shared_file("expected/ir_reference.json");
  if (!file) GTEST_SKIP() << "the shared data (HET_SHARED_DATA) is absent";
  MatchCounts all_float;
  MatchCounts all_int8;
  for (const auto& [name, reference] : test::read_ir_reference(*file)) {
    const auto model = shared_file("models/ir/" + name);
    ASSERT_TRUE(model) << name;
    const bool int8 = name.find("INT8") != std::string::npos;
    const Bounds& bounds = int8 ? kInt8 : kFloat;
    // One thread: teams of threads wait for each other, which is slow beside other tests.
    const std::string detector =
        fmt::format("heterodetect name=detect model={} ie-config=INFERENCE_NUM_THREADS=1", *model);
    MatchCounts& all = int8 ? all_int8 : all_float;
    all += compare_pictures(name, detector, reference.pictures, ReferenceLabels::Ids, bounds.iou);
    all += compare_videos(name, detector, reference.videos, ReferenceLabels::Ids, bounds.iou);
  }
  print("float models", all_float);
  print("INT8 models", all_int8);
  EXPECT_GT(all_float.wanted, 900);
  EXPECT_GT(all_int8.wanted, 150);
  EXPECT_GE(all_float.found_share(), kFloat.found);
  EXPECT_GE(all_int8.found_share(), kInt8.found);
  EXPECT_LE(all_float.extra_share(), kMostExtra);
  EXPECT_LE(all_int8.extra_share(), kMostExtra);
}

}  // namespace
}  // namespace het::gst_test
