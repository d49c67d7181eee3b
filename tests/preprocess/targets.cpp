// Every instruction set that this machine has and the kernels were built for, not only the best.
#include <gtest/gtest.h>

// As the kernels are built.
#define HWY_WANT_SSE4 1
#include <hwy/highway.h>

#include "inference/preprocess/preprocess.h"
#include "tests/preprocess/test_pictures.h"

namespace het {
namespace {

using preprocess_tests::describe;
using preprocess_tests::largest_difference;
using preprocess_tests::noise_picture;
using preprocess_tests::picture_tensor;

/// Makes Highway's dispatch choose one instruction set while it lives.
class ChosenTarget {
 public:
  explicit ChosenTarget(int64_t target) { choose(target); }
  ~ChosenTarget() { choose(0); }

 private:
  static void choose(int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

void expect_reference(ElementType type, Layout layout) {
  for (const PixelFormat format : preprocess_tests::kFormats) {
    const Image image = noise_picture(format, 75, 40, 17);
    for (const ColorOrder order : {ColorOrder::RGB, ColorOrder::Gray}) {
      PreprocessDesc desc;
      desc.tensor_layout = layout;
      desc.color_order = order;
      desc.range_high = type == ElementType::UInt8 ? 255.0f : 1e-4f;  // float16 gets subnormals
      Tensor expected = picture_tensor(desc, type, 70, 29);
      Tensor actual = picture_tensor(desc, type, 70, 29);
      ASSERT_TRUE(preprocess_reference(image, {2, 1, 70, 37}, desc, expected).ok());
      ASSERT_TRUE(preprocess(image, {2, 1, 70, 37}, desc, actual).ok());
      const bool bytes = type == ElementType::UInt8;
      // Half a level of the output: float16's subnormals are 2^-24 apart, 0.15 levels of 1e-4 /
      // 255.
      EXPECT_LE(largest_difference(expected, actual, desc.range_high / 255.0), bytes ? 1.0 : 0.2)
          << describe(image, {2, 1, 70, 37}, desc, actual);
    }
  }
}

TEST(InstructionSets, AllGiveTheReference) {
  int64_t remaining = hwy::SupportedTargets() & HWY_TARGETS;
  ASSERT_NE(remaining, 0);
  while (remaining != 0) {
    const int64_t target = remaining & -remaining;
    remaining &= remaining - 1;
    SCOPED_TRACE(hwy::TargetName(target));
    const ChosenTarget chosen(target);
    for (const ElementType type : {ElementType::UInt8, ElementType::Float16, ElementType::BFloat16,
                                   ElementType::Float32, ElementType::Float64}) {
      expect_reference(type, Layout::NCHW);
      expect_reference(type, Layout::NHWC);
    }
  }
}

}  // namespace
}  // namespace het
