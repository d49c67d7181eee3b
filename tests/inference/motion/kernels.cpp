// Every instruction set that this machine has and the loops were built for gives the plain loops'
// numbers.
#include <gtest/gtest.h>

#include <functional>
#include <random>

// As the kernels are built.
#define HWY_WANT_SSE4 1
#include <hwy/highway.h>

#include "inference/motion/kernel_reference.h"

namespace het::motion_internal {
namespace {

constexpr int kColumns = 3 * kColumnStep;

/// Makes Highway's dispatch choose one instruction set while it lives.
class OneTarget {
 public:
  explicit OneTarget(int64_t target) { choose(target); }
  ~OneTarget() { choose(0); }

 private:
  static void choose(int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

/// Random numbers with many of the largest and the smallest ones.
template <class Number>
std::vector<Number> numbers(std::mt19937& random, size_t count, int most) {
  std::vector<Number> values(count);
  for (Number& value : values) {
    const auto kind = random() % 8;
    value = kind == 0   ? Number{0}
            : kind == 1 ? static_cast<Number>(most)
                        : static_cast<Number>(random() % (static_cast<unsigned>(most) + 1));
  }
  return values;
}

void on_every_target(const std::function<void(const MotionKernels&)>& check) {
  int64_t remaining = hwy::SupportedTargets() & HWY_TARGETS;
  ASSERT_NE(remaining, 0);
  ASSERT_NE(&motion_kernels(), &reference_kernels());
  while (remaining != 0) {
    const int64_t target = remaining & -remaining;
    remaining &= remaining - 1;
    SCOPED_TRACE(hwy::TargetName(target));
    const OneTarget chosen(target);
    check(motion_kernels());
  }
}

TEST(MotionKernels, RowsAreAddedAndHalvedOnEveryInstructionSet) {
  on_every_target([](const MotionKernels& kernels) {
    std::mt19937 random(1);
    for (const int columns : {1, 7, 31, 64, 130}) {
      const auto pixels = numbers<uint8_t>(random, 8 * static_cast<size_t>(columns), 255);
      for (const int count : {1, 2, 4, 8}) {
        std::vector<const uint8_t*> rows;
        for (int i = 0; i < count; ++i) rows.push_back(pixels.data() + i * columns);
        std::vector<uint16_t> sums(static_cast<size_t>(columns) + 1, 4711);
        std::vector<uint16_t> expected = sums;
        kernels.sum_rows(rows.data(), count, columns, sums.data());
        reference_kernels().sum_rows(rows.data(), count, columns, expected.data());
        EXPECT_EQ(sums, expected) << count << " rows of " << columns;
        EXPECT_EQ(sums.back(), 4711) << "nothing is written behind the row";
      }
    }
    const auto sums = numbers<uint16_t>(random, 2 * kColumns, 64 * 255 / 2);
    std::vector<uint16_t> pairs(kColumns);
    std::vector<uint16_t> expected_pairs(kColumns);
    kernels.add_pairs(sums.data(), kColumns, pairs.data());
    reference_kernels().add_pairs(sums.data(), kColumns, expected_pairs.data());
    EXPECT_EQ(pairs, expected_pairs);
    for (const int shift : {0, 2, 4, 6}) {
      const auto of_pixels = numbers<uint16_t>(random, kColumns, 255 << shift);
      std::vector<uint8_t> means(kColumns);
      std::vector<uint8_t> expected(kColumns);
      kernels.means(of_pixels.data(), shift, kColumns, means.data());
      reference_kernels().means(of_pixels.data(), shift, kColumns, expected.data());
      EXPECT_EQ(means, expected) << shift;
    }
  });
}

TEST(MotionKernels, RowsAreComparedOnEveryInstructionSet) {
  on_every_target([](const MotionKernels& kernels) {
    std::mt19937 random(2);
    for (int round = 0; round < 50; ++round) {
      const auto now = numbers<uint8_t>(random, kColumns, 255);
      const auto gain = numbers<uint16_t>(random, kColumns, 0xffff);
      const auto threshold = numbers<uint16_t>(random, kColumns, 255 << kLevelBits);
      const auto background = numbers<uint16_t>(random, kColumns, 0xffff);
      const auto before = numbers<uint16_t>(random, kColumns, 511 * kMaxQuarters);
      struct Outcome {
        std::vector<uint16_t> background, quarters, now_sums, background_sums, counts;
        std::vector<uint8_t> changed, since;
        bool operator==(const Outcome&) const = default;
      };
      const uint16_t offset = static_cast<uint16_t>(random() % 0x10000);
      const auto since = numbers<uint8_t>(random, kColumns, round % 3 ? 255 : kStopFrames);
      const auto above = numbers<uint8_t>(random, kColumns + 1, 255);
      const auto run = [&](const MotionKernels& loops) {
        Outcome outcome{
            background, before, before, before, before, std::vector<uint8_t>(kColumns + 1), since};
        ComparedRow row;
        row.now = now.data();
        row.gain = gain.data();
        (round % 2 ? row.brighter : row.darker) = offset;
        row.threshold = threshold.data();
        row.background = outcome.background.data();
        row.changed = outcome.changed.data();
        row.since = outcome.since.data();
        row.quarters = outcome.quarters.data();
        loops.add_columns(now.data(), background.data(), kColumns, outcome.now_sums.data(),
                          outcome.background_sums.data());
        loops.compare_row(row, kColumns);
        loops.count_quads(above.data(), outcome.changed.data(), kColumns, outcome.counts.data());
        return outcome;
      };
      EXPECT_TRUE(run(kernels) == run(reference_kernels())) << "round " << round;
    }
  });
}

}  // namespace
}  // namespace het::motion_internal
