#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serving/archive/cost/prediction.h"
#include "serving/archive/cost/shard_costs.h"

namespace het::archive {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;

/// A process that begins at 100 s, needs 3 s to start, 0.5 s a shard and 0.01 s a frame.
std::vector<MeasuredShard> shards_of(const std::string& worker, size_t first,
                                     const std::vector<uint64_t>& frames) {
  std::vector<MeasuredShard> shards;
  double now = 103;
  for (const uint64_t count : frames) {
    const double end = now + 0.5 + 0.01 * static_cast<double>(count);
    // The next one is begun while this one runs.
    shards.push_back({first++, worker, 100, now - 0.2, end, count});
    now = end;
  }
  return shards;
}

TEST(ShardCosts, FindsTheConstants) {
  const ShardCosts costs = measure_costs(shards_of("a:1", 0, {100, 300, 200, 250}));
  EXPECT_NEAR(costs.start_s, 3, 1e-6);
  EXPECT_NEAR(costs.per_shard_s, 0.5, 1e-6);
  EXPECT_NEAR(costs.per_frame_s, 0.01, 1e-9);
  EXPECT_NEAR(costs.of_shard(1, 300), 3.5, 1e-6);
  EXPECT_NEAR(costs.of_shard(77, 50), 1, 1e-6);
  EXPECT_EQ(costs.instances, 1u);
}

TEST(ShardCosts, ShardsOfOneLength) {
  const ShardCosts costs = measure_costs(shards_of("a:1", 0, {250, 250, 250}));
  EXPECT_NEAR(costs.of_shard(9, 250), 3, 1e-6);
  EXPECT_NEAR(costs.start_s, 3, 1e-6);
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
