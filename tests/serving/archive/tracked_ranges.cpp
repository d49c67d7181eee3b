/// Ranges by real trackers, of generated scenes.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/serving/archive/border_shares.h"

namespace het::archive {
namespace {

using tracking::Observation;

/// Objects that come in at one side and go out at the other, some slower, some hidden for a while.
Scene generated_scene(unsigned seed) {
  constexpr int kFrames = 1500;
  std::mt19937 random(seed);
  const auto between = [&](float least, float most) {
    return least + (most - least) * static_cast<float>(random() % 10000) / 10000.0f;
  };
  Scene scene;
  scene.frames.resize(kFrames);
  for (int begin = -200; begin < kFrames; begin += static_cast<int>(between(5, 30))) {
    const float speed = between(1, 6) * (random() % 2 == 0 ? 1.0f : -1.0f);
    const float y = between(0, 640);
    const float side = between(25, 70);
    const int hidden = begin + static_cast<int>(between(20, 200));
    for (int i = std::max(begin, 0); i < kFrames; ++i) {
      const float x = (speed > 0 ? 0 : 1280) + speed * static_cast<float>(i - begin);
      if (x < -side || x > 1280) break;
      const bool is_seen = random() % 20 != 0 && (i < hidden || i > hidden + 8);
      if (!is_seen) continue;
      Observation& seen = scene.frames[static_cast<size_t>(i)].emplace_back();
      const float dx = between(-1.5f, 1.5f);
      const float dy = between(-1.5f, 1.5f);
      seen.box = {x + dx, y + dy, x + dx + side, y + dy + 1.5f * side};
      seen.label = "person";
      seen.confidence = random() % 8 == 0 ? between(0.2f, 0.5f) : between(0.6f, 0.95f);
    }
  }
  return scene;
}

class TrackedRanges : public testing::TestWithParam<const char*> {};

TEST_P(TrackedRanges, TwoSecondsJoinNearlyAll) {
  Shares sum;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const Shares shares =
        shares_of(generated_scene(seed), *tracking::tracker_type(GetParam()), 5, 2);
    sum.crossed += shares.crossed;
    sum.joined += shares.joined;
    sum.told_crossed += shares.told_crossed;
    sum.told_joined += shares.told_joined;
  }
  EXPECT_GT(sum.crossed, 100u);
  EXPECT_GE(percent(sum.joined, sum.crossed), 95) << sum.joined << " of " << sum.crossed;
  EXPECT_GE(percent(sum.told_joined, sum.told_crossed), 95);
}

TEST_P(TrackedRanges, WithoutAnOverlapNoneIsJoined) {
  EXPECT_EQ(shares_of(generated_scene(1), *tracking::tracker_type(GetParam()), 5, 0).joined, 0u);
}

INSTANTIATE_TEST_SUITE_P(Types, TrackedRanges,
                         testing::Values("zero-term", "short-term-imageless", "deep-sort",
                                         "byte-track", "oc-sort"),
                         [](const auto& type) {
                           std::string name = type.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace het::archive
