#include "tools/spread.h"

#include <gtest/gtest.h>

namespace het {
namespace {

TEST(Spread, RoundsHaveAsManyInferencesEachAndLastFromOneEndToTheNext) {
  // In no order, as several requests leave them; the last three are slower.
  const Measured run{{{20, 2}, {10, 1}, {30, 3}, {60, 6}, {90, 8}, {120, 7}}, 130};
  const auto rounds = rounds_of(run, 2, 4);
  ASSERT_EQ(rounds.size(), 2u);
  EXPECT_DOUBLE_EQ(rounds[0].latency_ms, 2);
  EXPECT_DOUBLE_EQ(rounds[0].throughput, 3 * 4 / 0.030);
  EXPECT_DOUBLE_EQ(rounds[1].latency_ms, 7);
  EXPECT_DOUBLE_EQ(rounds[1].throughput, 3 * 4 / 0.090);
  const Spread spread = throughput_spread(rounds);
  EXPECT_DOUBLE_EQ(spread.least, rounds[1].throughput);
  EXPECT_DOUBLE_EQ(spread.most, rounds[0].throughput);
  EXPECT_DOUBLE_EQ(spread.median, (rounds[0].throughput + rounds[1].throughput) / 2);
}

TEST(Spread, ThereAreNoMoreRoundsThanInferences) {
  EXPECT_EQ(rounds_of({{{5, 5}, {9, 4}}, 9}, 5, 1).size(), 2u);
  EXPECT_TRUE(rounds_of({}, 5, 1).empty());
  EXPECT_EQ(latency_spread({}).median, 0);
}

TEST(Spread, AWholeRunCountsItsPausesToo) {
  const BenchRound round = one_round({{{10, 1}, {20, 3}}, 40}, 2);
  EXPECT_DOUBLE_EQ(round.latency_ms, 2);
  EXPECT_DOUBLE_EQ(round.throughput, 2 * 2 / 0.040);
}

TEST(Spread, GeometricMean) {
  EXPECT_DOUBLE_EQ(geometric_mean({2, 8}), 4);
  EXPECT_DOUBLE_EQ(geometric_mean({5}), 5);
  EXPECT_EQ(geometric_mean({}), 0);
  EXPECT_EQ(geometric_mean({3, 0}), 0);
}

TEST(Spread, PercentilesAreOfTheNearestRank) {
  EXPECT_EQ(percentile({1, 2, 3, 4}, 50), 2);
  EXPECT_EQ(percentile({1, 2, 3, 4}, 99), 4);
  EXPECT_EQ(percentile({}, 50), 0);
}

}  // namespace
}  // namespace het
