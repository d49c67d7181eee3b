#include "inference/tracking/box_filter.h"

#include <gtest/gtest.h>

#include <limits>

#include "scene.h"

namespace het::tracking {
namespace {

TEST(BoxFilter, LearnsAConstantVelocity) {
  const auto truth = moving(100.0f, 50.0f, 6.0f, -2.0f);
  Jitter jitter{1.0f};
  BoxFilter filter(truth(0));
  for (int frame = 1; frame < 40; ++frame) {
    filter.predict();
    filter.correct(jitter(truth(frame)));
  }
  for (int frame = 40; frame < 50; ++frame) filter.predict();
  const Box box = filter.box();
  EXPECT_NEAR(box.x_min, truth(49).x_min, 6.0f) << "after ten frames without a look";
  EXPECT_NEAR(box.y_min, truth(49).y_min, 6.0f);
  EXPECT_NEAR(box.width(), 40.0f, 3.0f);
  EXPECT_NEAR(box.height(), 80.0f, 3.0f);
}

TEST(BoxFilter, TheDistanceGrowsWithTheErrorAndShrinksWithTheDoubt) {
  const Box start{0.0f, 0.0f, 40.0f, 80.0f};
  const Box away{30.0f, 0.0f, 70.0f, 80.0f};
  BoxFilter filter(start);
  for (int frame = 0; frame < 10; ++frame) {
    filter.predict();
    filter.correct(start);
  }
  filter.predict();
  EXPECT_LT(filter.distance(start), 0.1f);
  const float soon = filter.distance(away);
  EXPECT_GT(soon, BoxFilter::kGate);
  for (int frame = 0; frame < 20; ++frame) filter.predict();
  EXPECT_LT(filter.distance(away), soon / 4.0f) << "after a while it may have gone there";
}

TEST(BoxFilter, AShrinkingBoxKeepsAnArea) {
  BoxFilter filter({0.0f, 0.0f, 40.0f, 40.0f});
  for (int frame = 1; frame < 9; ++frame) {
    const float size = 40.0f - 4.0f * static_cast<float>(frame);
    filter.predict();
    filter.correct({0.0f, 0.0f, size, size});
  }
  for (int frame = 0; frame < 50; ++frame) filter.predict();
  EXPECT_TRUE(is_valid(filter.box()));
}

TEST(BoxFilter, OverlapAndValidity) {
  EXPECT_FLOAT_EQ(overlap({0, 0, 10, 10}, {5, 0, 15, 10}), 1.0f / 3.0f);
  EXPECT_FLOAT_EQ(overlap({0, 0, 10, 10}, {10, 0, 20, 10}), 0.0f);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(is_valid({-5, 0, 10, 10}));
  EXPECT_FALSE(is_valid({0, 0, 0, 10}));
  EXPECT_FALSE(is_valid({5, 0, 0, 10}));
  EXPECT_FALSE(is_valid({nan, 0, 10, 10}));
  EXPECT_FALSE(is_valid({0, 0, std::numeric_limits<float>::infinity(), 10}));
}

}  // namespace
}  // namespace het::tracking
