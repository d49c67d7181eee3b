#include "tools/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace het {
namespace {

TEST(Compare, FindsTheLargestError) {
  const Comparison c = compare({1, 2, 3.5}, {1, 2, 3});
  EXPECT_DOUBLE_EQ(c.maximum_error, 0.5);
  EXPECT_EQ(c.position, 2u);
  EXPECT_DOUBLE_EQ(c.actual, 3.5);
  EXPECT_LT(c.cosine, 1.0);
}

TEST(Compare, CosineIgnoresTheScaleAndSeesTheDirection) {
  EXPECT_NEAR(compare({2, 4}, {1, 2}).cosine, 1.0, 1e-12);
  EXPECT_NEAR(compare({1, 0}, {0, 1}).cosine, 0.0, 1e-12);
  EXPECT_EQ(compare({0, 0}, {0, 0}).cosine, 1.0);
  EXPECT_EQ(compare({0, 0}, {0, 1}).cosine, 0.0);
}

TEST(Compare, NotANumberOnOneSideIsAnInfiniteError) {
  EXPECT_TRUE(std::isinf(compare({std::nan("")}, {1}).maximum_error));
  EXPECT_EQ(compare({std::nan("")}, {std::nan("")}).maximum_error, 0.0);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(compare({infinity}, {infinity}).maximum_error, 0.0);
  EXPECT_TRUE(std::isinf(compare({infinity}, {-infinity}).maximum_error));
}

TEST(AllClose, FollowsNumPysRule) {
  Comparison worst;
  EXPECT_TRUE(all_close({1.0009}, {1.0}, 1e-3, 0.0, worst));
  EXPECT_FALSE(all_close({1.0011}, {1.0}, 1e-3, 0.0, worst));
  EXPECT_NEAR(worst.maximum_error, 0.0011, 1e-9);
  EXPECT_TRUE(all_close({5e-8}, {0.0}, 1e-3, 1e-7, worst));
  EXPECT_FALSE(all_close({1e30}, {std::numeric_limits<double>::infinity()}, 1e-3, 1e-7, worst));
}

TEST(ToDoubles, KeepsLargeIntegers) {
  const int64_t large = (int64_t{1} << 52) + 1;
  EXPECT_EQ((*to_doubles(Tensor::from<int64_t>({1}, {large})))[0], static_cast<double>(large));
}

}  // namespace
}  // namespace het
