#include "tools/axis_ticks.h"

#include <gtest/gtest.h>

namespace het {
namespace {

TEST(AxisTicks, LinearOnesAreRoundAndReachTheEnd) {
  EXPECT_EQ(linear_ticks(10), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(linear_ticks(430), (std::vector<double>{0, 100, 200, 300, 400, 500}));
  for (const double most : {1e-6, 0.3, 0.999, 1.0, 7.3, 51.0, 1999.0, 12345.0}) {
    const auto ticks = linear_ticks(most);
    EXPECT_GE(ticks.size(), 4u) << most;
    EXPECT_LE(ticks.size(), 10u) << most;
    EXPECT_GE(ticks.back(), most * (1 - 1e-9)) << most;
    EXPECT_LT(ticks[ticks.size() - 2], most) << most;
  }
}

TEST(AxisTicks, LogarithmicOnesEncloseTheRange) {
  EXPECT_EQ(log_ticks(1.5, 40), (std::vector<double>{1, 2, 5, 10, 20, 50}));
  const auto ticks = log_ticks(0.2, 100);
  EXPECT_DOUBLE_EQ(ticks.front(), 0.2);
  EXPECT_DOUBLE_EQ(ticks.back(), 100);
}

TEST(AxisTicks, TextsHaveNoZerosBehindThePoint) {
  EXPECT_EQ(tick_text(0.3), "0.3");
  EXPECT_EQ(tick_text(3 * 0.1), "0.3");
  EXPECT_EQ(tick_text(1000), "1000");
  EXPECT_EQ(tick_text(0), "0");
}

}  // namespace
}  // namespace het
