#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "serving/archive/cost/prediction.h"
#include "serving/archive/cost/shard_costs.h"

namespace het::archive {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;

/// A process that begins at 100 s, needs 2.5 s until it takes shards, 0.5 s for the start of each,
/// and 0.01 s a frame, which two that are under way at once have half of; one alone has `alone`.
std::vector<MeasuredShard> shards_of(const std::string& worker, size_t first,
                                     const std::vector<uint64_t>& frames, double alone = 1) {
  constexpr double kStep = 0.001;
  struct Running {
    size_t index;
    double works_at;
    double left;
  };
  std::vector<MeasuredShard> shards;
  std::vector<Running> running;
  size_t next = 0;
  double now = 102.5;
  while (next < frames.size() || !running.empty()) {
    while (running.size() < 2 && next < frames.size()) {
      shards.push_back({first + next, worker, 100, now, now + 0.5, 0, frames[next]});
      running.push_back({next, now + 0.5, 0.01 * static_cast<double>(frames[next])});
      ++next;
    }
    now += kStep;
    const auto works = [&](const Running& one) { return one.works_at < now; };
    const auto working = std::ranges::count_if(running, works);
    for (Running& one : running) {
      if (!works(one)) continue;
      one.left -= kStep * (working > 1 ? 1 / static_cast<double>(working) : alone);
      if (one.left <= 0) shards[one.index].ended_s = now;
    }
    std::erase_if(running, [](const Running& one) { return one.left <= 0; });
  }
  return shards;
}

TEST(ShardCosts, ShardsThatRunTwoAtATimeCostWhatTheyTake) {
  const std::vector<uint64_t> frames = {100, 300, 200, 250, 150, 300};
  const ShardCosts costs = measure_costs(shards_of("a:1", 0, frames));
  EXPECT_NEAR(costs.start_s, 3, 0.01);
  double sum = 0;
  for (size_t i = 0; i < frames.size(); ++i) sum += costs.of_shard(i, frames[i]);
  EXPECT_NEAR(sum, 13, 0.2);
  EXPECT_NEAR(costs.of_shard(77, 200), 2, 0.3);
  EXPECT_EQ(costs.instances, 1u);
}

TEST(ShardCosts, ShardsOfOneLength) {
  const ShardCosts costs = measure_costs(shards_of("a:1", 0, {250, 250, 250, 250}));
  EXPECT_NEAR(costs.of_shard(9, 250), 2.5, 0.15);
  EXPECT_NEAR(costs.of_shard(0, 250), 2.5, 0.15);
  EXPECT_NEAR(costs.start_s, 3, 0.01);
}

TEST(ShardCosts, WaitingForOrdersCostsNothing) {
  std::vector<MeasuredShard> shards = shards_of("a:1", 0, {250});
  for (MeasuredShard late : shards_of("a:1", 1, {250})) {
    late.begun_s += 1000;
    late.first_frame_s += 1000;
    late.ended_s += 1000;
    shards.push_back(late);
  }
  EXPECT_NEAR(measure_costs(shards).of_shard(9, 250), 2.75, 0.1);
}

TEST(ShardCosts, HowFastAShardIsAlone) {
  const std::vector<uint64_t> frames = {100, 300, 200, 250, 150, 300};
  for (const double alone : {0.5, 0.7, 1.0}) {
    const ShardCosts costs = measure_costs(shards_of("a:1", 0, frames, alone));
    EXPECT_EQ(costs.at_once, 2u);
    EXPECT_NEAR(costs.alone, alone, 0.01);
  }
  // With one at a time there is nothing to tell.
  EXPECT_EQ(measure_costs(shards_of("a:1", 0, {100})).alone, 1);
  EXPECT_EQ(measure_costs(shards_of("a:1", 0, {100})).at_once, 1u);
}

TEST(ShardCosts, CountsTheProcessesOfAHost) {
  std::vector<MeasuredShard> shards = shards_of("a:1", 0, {100, 300});
  for (const auto& shard : shards_of("a:2", 2, {200, 100})) shards.push_back(shard);
  for (const auto& shard : shards_of("b:1", 4, {200, 100})) shards.push_back(shard);
  EXPECT_EQ(measure_costs(shards).instances, 2u);
}

TEST(ShardCosts, NothingMeasured) {
  EXPECT_EQ(measure_costs({}).of_shard(0, 100), 0);
}

TEST(Predict, DealsOutByIndex) {
  ArchiveWork work;
  work.shard_s = {5, 1, 5, 1};
  work.start_s = 2;
  EXPECT_DOUBLE_EQ(predict(work, 1).total_s, 14);
  // Both long ones go to the same node.
  EXPECT_DOUBLE_EQ(predict(work, 2).total_s, 12);
  EXPECT_DOUBLE_EQ(predict(work, 4).total_s, 7);
  work.instances = 2;
  EXPECT_DOUBLE_EQ(predict(work, 1).total_s, 8);
}

TEST(Predict, TheLastShardsAreAlone) {
  ArchiveWork work;
  work.shard_s = {1, 1, 1, 1, 1};
  work.at_once = 2;
  EXPECT_DOUBLE_EQ(predict(work, 1).total_s, 5);
  // Each waits for an accelerator: 2 s for each pair, and 2 s for the last one.
  work.alone = 0.5;
  EXPECT_DOUBLE_EQ(predict(work, 1).total_s, 6);
  EXPECT_DOUBLE_EQ(predict(work, 5).total_s, 2);
  EXPECT_DOUBLE_EQ(predict(work, 5).longest_s, 2);
  work.instances = 2;
  EXPECT_DOUBLE_EQ(predict(work, 1).total_s, 4);
}

TEST(Predict, SaysWhatLimits) {
  ArchiveWork work;
  work.shard_s = std::vector<double>(300, 2.0);
  work.scan_s = 3;
  work.start_s = 1;
  work.task_start_s = 0.5;
  work.bytes = 30e9;
  EXPECT_THAT(predict(work, 3).limit, HasSubstr("the work itself"));
  const Prediction thousand = predict(work, 1000);
  EXPECT_EQ(thousand.idle_nodes, 700u);
  EXPECT_DOUBLE_EQ(thousand.total_s, 6.5);
  EXPECT_DOUBLE_EQ(thousand.read_rate, 30e9 / 3.5);
  EXPECT_THAT(thousand.limit, HasSubstr("the scan, 3.0 s"));
  work.scan_s = 0;
  EXPECT_THAT(predict(work, 1000).limit, HasSubstr("the longest shard, 2.0 s"));
  work.storage_rate = 1e9;
  EXPECT_DOUBLE_EQ(predict(work, 1000).total_s, 31.5);
  EXPECT_THAT(predict(work, 1000).limit, HasSubstr("the storage, 30.0 s for 30.0 GB"));
}

TEST(Predict, NothingToDo) {
  EXPECT_EQ(predict({}, 3).total_s, 0);
}

}  // namespace
}  // namespace het::archive
