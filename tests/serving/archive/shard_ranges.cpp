#include "serving/archive/scan/shard_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace het::archive {
namespace {

using testing::ElementsAre;

constexpr uint64_t kSecond = 1000000000;

/// A frame every 0.1 s, a key frame every `every`th.
VideoScan video(size_t frames, size_t every) {
  VideoScan scan;
  scan.frames = frames;
  for (size_t i = 0; i < frames; ++i) {
    scan.timestamps.push_back(i * kSecond / 10);
    if (i % every == 0) scan.key_frames.push_back(i * kSecond / 10);
  }
  scan.duration_ns = frames * kSecond / 10;
  return scan;
}

std::vector<uint64_t> starts(const std::vector<PlannedShard>& shards) {
  std::vector<uint64_t> times;
  for (const PlannedShard& shard : shards) times.push_back(shard.start_ns);
  return times;
}

TEST(ShardRanges, WholeWithoutALength) {
  const auto shards = shard_ranges(video(100, 10), 0, 2);
  ASSERT_EQ(shards.size(), 1U);
  EXPECT_EQ(shards[0].frames, 100U);
  EXPECT_FALSE(shards[0].stop_ns);
}

TEST(ShardRanges, BorderOnBorderFromKeyFrameToKeyFrame) {
  const auto shards = shard_ranges(video(100, 7), 3, 0);
  EXPECT_THAT(starts(shards), ElementsAre(0, 3.5 * kSecond, 7 * kSecond));
  uint64_t frames = 0;
  for (size_t i = 0; i < shards.size(); ++i) {
    frames += shards[i].frames;
    EXPECT_EQ(shards[i].from_ns, shards[i].start_ns);
    if (i + 1 < shards.size()) {
      EXPECT_EQ(shards[i].stop_ns, shards[i + 1].start_ns);
    }
  }
  EXPECT_FALSE(shards.back().stop_ns);
  EXPECT_EQ(frames, 100U);
}

TEST(ShardRanges, TheLastOneIsNoShorter) {
  EXPECT_THAT(starts(shard_ranges(video(69, 10), 3, 0)), ElementsAre(0, 3 * kSecond));
}

TEST(ShardRanges, OverlapBeginsAtAKeyFrame) {
  const auto shards = shard_ranges(video(100, 10), 3, 1.5);
  EXPECT_THAT(starts(shards), ElementsAre(0, 3 * kSecond, 6 * kSecond));
  EXPECT_EQ(shards[0].from_ns, 0U);
  EXPECT_EQ(shards[1].from_ns, 1 * kSecond);
  EXPECT_EQ(shards[2].from_ns, 4 * kSecond);
}

TEST(ShardRanges, WholeWhereRangesCannotBeTold) {
  VideoScan untimed = video(100, 10);
  untimed.timestamps.pop_back();
  EXPECT_EQ(shard_ranges(untimed, 3, 0).size(), 1U);
  VideoScan twice = video(100, 10);
  twice.timestamps[5] = twice.timestamps[4];
  EXPECT_EQ(shard_ranges(twice, 3, 0).size(), 1U);
  VideoScan broken = video(100, 10);
  broken.error = "it is cut off";
  EXPECT_EQ(shard_ranges(broken, 3, 0).size(), 1U);
  EXPECT_EQ(shard_ranges(VideoScan(), 3, 0).size(), 1U);
}

}  // namespace
}  // namespace het::archive
