#include "serving/launch/duration.h"

#include <gtest/gtest.h>

namespace het::serving {
namespace {

TEST(Duration, Units) {
  EXPECT_EQ(parse_duration("200ms", 0.001), 0.2);
  EXPECT_EQ(parse_duration("0.2s", 0.001), 0.2);
  EXPECT_EQ(parse_duration("200", 0.001), 0.2);
  EXPECT_EQ(parse_duration("90", 1), 90);
  EXPECT_EQ(parse_duration("90s", 1), 90);
  EXPECT_EQ(parse_duration("1.5min", 1), 90);
  EXPECT_EQ(parse_duration("5min", 1), 300);
  EXPECT_EQ(parse_duration("1h", 1), 3600);
  for (const char* text :
       {"", "ms", "min", "-1s", "inf", "nan", "5 s", "5 min", "5m", "1d", "1e999"}) {
    EXPECT_FALSE(parse_duration(text, 1)) << text;
  }
}

}  // namespace
}  // namespace het::serving
