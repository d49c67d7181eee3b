#include "serving/tune/paired_ratio.h"

#include <gtest/gtest.h>

#include <vector>

namespace het::serving {
namespace {

TEST(PairedRatio, TheIntervalIsThatOfTheSignTest) {
  const RatioInterval six = ratio_interval({1.3, 1.1, 1.2, 1.6, 1.4, 1.5});
  EXPECT_DOUBLE_EQ(six.median, 1.35);
  EXPECT_DOUBLE_EQ(six.low, 1.1);
  EXPECT_DOUBLE_EQ(six.high, 1.6);
  EXPECT_DOUBLE_EQ(six.confidence, 1 - 2.0 / 64);
  EXPECT_EQ(six.pairs, 6u);
  const RatioInterval nine = ratio_interval({9, 1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_DOUBLE_EQ(nine.median, 5);
  EXPECT_DOUBLE_EQ(nine.low, 2);
  EXPECT_DOUBLE_EQ(nine.high, 8);
  EXPECT_DOUBLE_EQ(nine.confidence, 1 - 2.0 * (1 + 9) / 512);
  const RatioInterval one = ratio_interval({1.25});
  EXPECT_DOUBLE_EQ(one.low, 1.25);
  EXPECT_DOUBLE_EQ(one.high, 1.25);
  EXPECT_DOUBLE_EQ(one.confidence, 0) << "a single pair says nothing";
}

TEST(PairedRatio, AGainTakesSixPairsOrNineWithOneBelow) {
  std::vector<double> ratios(5, 1.05);
  EXPECT_EQ(judge_pairs(ratios), PairVerdict::Undecided);
  ratios.push_back(1.011);
  EXPECT_EQ(judge_pairs(ratios), PairVerdict::Gain);
  ratios.back() = 1.01;
  for (; ratios.size() < 9; ratios.push_back(1.05)) {
    EXPECT_EQ(judge_pairs(ratios), PairVerdict::Undecided) << ratios.size();
  }
  EXPECT_EQ(judge_pairs(ratios), PairVerdict::Gain);
  ratios.back() = 1;
  EXPECT_EQ(judge_pairs(ratios), PairVerdict::NoGain);
}

TEST(PairedRatio, WhatIsClearIsDecidedEarly) {
  EXPECT_EQ(judge_pairs({}), PairVerdict::Undecided);
  EXPECT_EQ(judge_pairs({1.5, 1.6}), PairVerdict::Undecided);
  EXPECT_EQ(judge_pairs({1.5, 1.6, 2}), PairVerdict::Gain);
  EXPECT_EQ(judge_pairs({1.5, 1.49, 2}), PairVerdict::Undecided);
  EXPECT_EQ(judge_pairs({0.79}), PairVerdict::NoGain);
  EXPECT_EQ(judge_pairs({0.85}), PairVerdict::Undecided);
  EXPECT_EQ(judge_pairs({1, 1}), PairVerdict::NoGain);
}

}  // namespace
}  // namespace het::serving
