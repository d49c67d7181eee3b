#include "serving/launch/plan/number_list.h"

#include <gtest/gtest.h>

namespace het::serving {
namespace {

TEST(NumberList, BothWays) {
  EXPECT_EQ(number_list(std::vector<int>{0, 1, 2, 8}), "0-2,8");
  EXPECT_EQ(number_list(std::vector<size_t>{1}), "1");
  EXPECT_EQ(number_list(std::vector<int>{}), "");
  const auto numbers = parse_number_list("8,0-2");
  ASSERT_TRUE(numbers);
  EXPECT_EQ(*numbers, (std::vector<int>{0, 1, 2, 8}));
}

TEST(NumberList, RefusesWhatIsNone) {
  for (const char* text :
       {"", "a", "0-", "-", ",", "1;2", "0x1", "1 2", "99999999999", "0-4000000"}) {
    EXPECT_FALSE(parse_number_list(text)) << text;
  }
}

}  // namespace
}  // namespace het::serving
