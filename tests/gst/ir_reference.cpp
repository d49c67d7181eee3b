/// OpenVINO's own results of the shared IR detectors, against heterodetect with nothing but the
/// model file: no model-proc, no labels. And their batches against single frames.

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
/// The recordings come from a processor with AVX-512. Elsewhere float sums are added in another
/// order, and values beside a half fall on the other level: with AVX2 OpenVINO itself finds 158 of
/// its 168 again, from its own pixels, in float32 as in int8.
constexpr double kInt8WithoutAvx512 = 158.0 / 168.0;
constexpr double kMostExtra = 0.02;

TEST(IrReference, PicturesAndVideosTogether) {
  const auto file = shared_file("expected/ir_reference.json");
  if (!file) GTEST_SKIP() << "the shared data (HET_SHARED_DATA) is absent";
  MatchCounts all_float;
  MatchCounts all_int8;
  MatchCounts all_fast;
  for (const auto& [name, reference] : test::read_ir_reference(*file)) {
    const auto model = shared_file("models/ir/" + name);
    ASSERT_TRUE(model) << name;
    const bool int8 = name.find("INT8") != std::string::npos;
    const Bounds& bounds = int8 ? kInt8 : kFloat;
    // One thread: teams of threads wait for each other, which is slow beside other tests.
    const std::string detector = fmt::format(
        "heterodetect name=detect metadata-form=roi model={} ie-config=INFERENCE_NUM_THREADS=1",
        *model);
    const auto compare = [&](const std::string& mode) {
      MatchCounts counts = compare_pictures(name, detector + mode, reference.pictures,
                                            ReferenceLabels::Ids, bounds.iou);
      counts +=
          compare_videos(name, detector + mode, reference.videos, ReferenceLabels::Ids, bounds.iou);
      return counts;
    };
    if (int8) all_int8 += compare(",EXECUTION_MODE_HINT=ACCURACY");
    (int8 ? all_fast : all_float) += compare("");
  }
  print("float models", all_float);
  print("INT8 models", all_int8);
  print("INT8 models in int8", all_fast);
  EXPECT_GT(all_float.wanted, 900);
  EXPECT_GT(all_int8.wanted, 150);
  EXPECT_GE(all_float.found_share(), kFloat.found);
  const double int8_found = __builtin_cpu_supports("avx512f") ? kInt8.found : kInt8WithoutAvx512;
  EXPECT_GE(all_int8.found_share(), int8_found);
  EXPECT_LE(all_float.extra_share(), kMostExtra);
  EXPECT_LE(all_int8.extra_share(), kMostExtra);
  // Of a million values a few lie beside a half, where the reference's float sums round to the
  // other level; each layer multiplies these, until half the levels of the last ones differ by some
  // steps. OpenVINO's own int8 finds 161 of the 168 in the same pixels.
  EXPECT_GE(all_fast.found_share(), int8_found);
  EXPECT_LE(all_fast.extra_share(), kMostExtra);
}

/// DetectionOutput's rows of a batch go to the frames whose number they have: frame by frame the
/// objects of single runs, by the element's own batches and by the device's. The last frames are
/// no full batch.
TEST(IrReference, ABatchFindsTheSameObjects) {
  const auto video = shared_file("videos/preview_person-bicycle-car-detection.mp4");
  const auto model = shared_file(
      "models/ir/person-vehicle-bike-detection-2000/FP16-INT8/"
      "person-vehicle-bike-detection-2000.xml");
  if (!video || !model) GTEST_SKIP() << "the shared data (HET_SHARED_DATA) is absent";
  // Exact, so that only the batch differs.
  const std::string detector = fmt::format(
      "heterodetect metadata-form=roi model={} ie-config=INFERENCE_NUM_THREADS=1,", *model);
  std::vector<int> frames;
  for (int i = 0; i < 12; ++i) frames.push_back(i);
  const auto alone =
      analyse(*video, detector + "EXECUTION_MODE_HINT=ACCURACY", frames, ReferenceLabels::Ids);
  ASSERT_EQ(alone.size(), frames.size());
  for (const std::string batched :
       {"EXECUTION_MODE_HINT=ACCURACY batch-size=8 batch-timeout=200",
        "EXECUTION_MODE_HINT=ACCURACY,AUTO_BATCH_TIMEOUT=200 device=BATCH:CPU(5)"}) {
    SCOPED_TRACE(batched);
    const auto together = analyse(*video, detector + batched, frames, ReferenceLabels::Ids);
    ASSERT_EQ(together.size(), frames.size());
    MatchCounts all;
    for (const auto& [number, frame] : alone) {
      all += compare(fmt::format("frame {}", number), frame.objects, together.at(number), 0.95f);
    }
    print(batched, all);
    EXPECT_GT(all.wanted, 5);
    EXPECT_EQ(all.found, all.wanted);
    EXPECT_EQ(all.extra, 0);
  }
}

}  // namespace
}  // namespace het::gst_test
