#include "inference/motion/region_tracks.h"

#include <gtest/gtest.h>

#include "inference/motion/block_regions.h"

namespace het::motion_internal {
namespace {

using motion::MotionSettings;

TEST(BlockRegions, BlocksThatTouchAreOneRegion) {
  BlockMask mask{5, 4, {1, 0, 0, 0, 0,  //
                        0, 1, 0, 0, 1,  //
                        0, 0, 0, 0, 1,  //
                        1, 0, 0, 0, 1}};
  EXPECT_EQ(connected_blocks(mask), (std::vector<Rect>{{0, 0, 2, 2}, {4, 1, 1, 3}, {0, 3, 1, 1}}));
  mask.set.assign(20, 0);
  EXPECT_TRUE(connected_blocks(mask).empty());
  mask.set.assign(20, 1);
  EXPECT_EQ(connected_blocks(mask), (std::vector<Rect>{{0, 0, 5, 4}}));
}

TEST(RegionTracks, ARegionIsToldOnceItHasLasted) {
  RegionTracks tracks;
  MotionSettings settings;
  settings.min_persistence = 3;
  const std::vector<Rect> seen{{0, 0, 64, 64}};
  EXPECT_TRUE(tracks.update(seen, settings).empty());
  EXPECT_TRUE(tracks.update(seen, settings).empty());
  EXPECT_EQ(tracks.update(seen, settings), seen);
}

TEST(RegionTracks, OneThatIsMissedStaysForMaxMissFrames) {
  RegionTracks tracks;
  MotionSettings settings;
  settings.min_persistence = 1;
  settings.max_miss = 2;
  const std::vector<Rect> seen{{0, 0, 64, 64}};
  tracks.update(seen, settings);
  EXPECT_EQ(tracks.update({}, settings), seen);
  EXPECT_EQ(tracks.update({}, settings), seen);
  EXPECT_TRUE(tracks.update({}, settings).empty());
}

TEST(RegionTracks, SmoothAlphaIsTheWeightOfTheNewPlace) {
  for (const auto& [alpha, left] : {std::pair{1.0, 32}, {0.5, 16}, {0.0, 0}}) {
    RegionTracks tracks;
    MotionSettings settings;
    settings.min_persistence = 1;
    settings.smooth_alpha = alpha;
    tracks.update({{0, 0, 64, 64}}, settings);
    EXPECT_EQ(tracks.update({{32, 0, 64, 64}}, settings), (std::vector<Rect>{{left, 0, 64, 64}}));
  }
}

TEST(RegionTracks, WhatIsFastIsFollowedWithoutOverlap) {
  RegionTracks tracks;
  const MotionSettings settings;
  tracks.update({{0, 0, 64, 64}}, settings);
  EXPECT_EQ(tracks.update({{100, 0, 64, 64}}, settings), (std::vector<Rect>{{100, 0, 64, 64}}));
  EXPECT_EQ(tracks.update({{200, 0, 64, 64}}, settings), (std::vector<Rect>{{200, 0, 64, 64}}));
  EXPECT_EQ(tracks.update({{600, 0, 64, 64}}, settings), (std::vector<Rect>{{200, 0, 64, 64}}))
      << "too far: another one, and the last place of the first";
}

TEST(RegionTracks, TheOverlapDecidesWhoIsWho) {
  RegionTracks tracks;
  MotionSettings settings;
  settings.min_persistence = 2;
  settings.iou_threshold = 0.3;
  tracks.update({{0, 0, 64, 64}, {200, 0, 64, 64}}, settings);
  const auto told = tracks.update({{210, 0, 64, 64}, {10, 0, 64, 64}}, settings);
  EXPECT_EQ(told, (std::vector<Rect>{{5, 0, 64, 64}, {205, 0, 64, 64}}));
}

}  // namespace
}  // namespace het::motion_internal
