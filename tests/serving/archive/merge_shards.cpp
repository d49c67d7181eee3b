#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serving/archive/merge/merge.h"
#include "serving/archive/records/shard_failures.h"
#include "tests/serving/archive/written_archive.h"

namespace het::archive {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<MergeReport> merge_to(const WrittenArchive& archive, const std::string& output) {
  HET_ASSIGN(const auto states, shard_states(archive.folder, archive.plan));
  HET_ASSIGN(const auto file, create_merged_file(output, ParquetRows::Objects));
  HET_ASSIGN(MergeReport report, merge_shards(archive.folder, archive.plan, states, *file));
  HET_TRY(file->keep());
  return report;
}

class MergeShards : public testing::Test {
 protected:
  WrittenArchive archive_;
  std::string output_ = archive_.path("merged.jsonl").string();
};

TEST_F(MergeShards, WholeFilesByteForByteInThePlansOrder) {
  archive_.add_video("b", 2, {0});
  archive_.add_video("a", 1, {0});
  // No JSON and no order of time: nobody looks into it.
  archive_.finish(1, {"{\"timestamp\":5}", "", "text \\"});
  archive_.finish(0, {" {\"timestamp\" : 10.0 }", frame_line(0, {{7, 1}})});
  const auto report = merge_to(archive_, output_);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(archive_.read(output_), " {\"timestamp\" : 10.0 }\n" + frame_line(0, {{7, 1}}) +
                                        "\n{\"timestamp\":5}\n\ntext \\\n");
  EXPECT_EQ(report->shards, 2u);
  EXPECT_EQ(report->frames, 3u);
  EXPECT_EQ(report->lines, 5u);
}

TEST_F(MergeShards, RangesAreJoined) {
  archive_.add_video("v", 6, {0, 20, 40}, 10);
  archive_.finish(0, {frame_line(0, {{1, 0}}), frame_line(10, {{1, 5}, {2, 100}})});
  archive_.finish(1, {frame_line(20, {{1, 105}, {2, 10}}), frame_line(30, {{1, 110}, {3, 300}})},
                  {frame_line(10, {{2, 5}, {1, 100}})});
  archive_.finish(2, {frame_line(40, {{1, 303}, {9, 700}}), frame_line(50, {{7, 500}})},
                  {frame_line(30, {{1, 300}, {2, 800}, {7, 600}})});
  const auto report = merge_to(archive_, output_);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(archive_.read(output_),
            frame_line(0, {{1, 0}}) + "\n" + frame_line(10, {{1, 5}, {2, 100}}) + "\n" +
                frame_line(20, {{2, 105}, {1, 10}}) + "\n" + frame_line(30, {{2, 110}, {3, 300}}) +
                "\n" + frame_line(40, {{3, 303}, {4, 700}}) + "\n" + frame_line(50, {{5, 500}}) +
                "\n");
  EXPECT_EQ(report->crossed(), 4u);
  EXPECT_EQ(report->joined(), 3u);
  ASSERT_EQ(report->borders.size(), 2u);
  EXPECT_THAT(report->borders[1].identities.new_ids, ElementsAre(5));
}

TEST_F(MergeShards, WhatIsMissingIsToldAndItsNeighboursAreMerged) {
  archive_.add_video("v", 6, {0, 20, 40}, 10);
  archive_.finish(0, {frame_line(0, {{1, 0}})});
  archive_.finish(2, {frame_line(40, {{1, 0}})}, {frame_line(30, {{1, 0}})});
  ASSERT_TRUE(
      add_failure(archive_.folder, archive_.plan.shards[1].key, FailureKind::Error, "broken", 1));
  const auto report = merge_to(archive_, output_);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(archive_.read(output_),
            frame_line(0, {{1, 0}}) + "\n" + frame_line(40, {{2, 0}}) + "\n");
  ASSERT_EQ(report->left_out.size(), 1u);
  EXPECT_TRUE(report->left_out[0].given_up);
  EXPECT_THAT(report->left_out[0].reason, HasSubstr("broken"));
  EXPECT_TRUE(report->borders.empty());
}

TEST_F(MergeShards, AChangedOutputIsRefusedAndTheOldFileStays) {
  archive_.add_video("v", 1, {0});
  archive_.finish(0, {frame_line(0)});
  archive_.write(output_, "old");
  std::string changed = frame_line(0);
  changed.back() = ' ';
  archive_.write(archive_.folder.output(archive_.plan.shards[0].key), changed + "\n");
  const auto report = merge_to(archive_, output_);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message(), HasSubstr("verify --redo"));
  EXPECT_EQ(archive_.read(output_), "old");
  // Nor does a part stay beside it.
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(archive_.folder.path())) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files, 1u);
}

TEST_F(MergeShards, OneThatIsStoppedLeavesTheOldFile) {
  archive_.add_video("v", 1, {0});
  archive_.finish(0, {frame_line(0)});
  archive_.write(output_, "old");
  {
    const auto states = shard_states(archive_.folder, archive_.plan);
    const auto file = create_merged_file(output_, ParquetRows::Objects);
    ASSERT_TRUE(file);
    const auto report =
        merge_shards(archive_.folder, archive_.plan, *states, **file, [] { return true; });
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code(), StatusCode::Cancelled);
  }
  EXPECT_EQ(archive_.read(output_), "old");
}

TEST_F(MergeShards, ALostOutputIsRefused) {
  archive_.add_video("v", 1, {0});
  archive_.finish(0, {frame_line(0)});
  std::filesystem::remove(archive_.folder.output(archive_.plan.shards[0].key));
  EXPECT_FALSE(merge_to(archive_, output_));
}

TEST_F(MergeShards, RefusesNamesThatSayNothing) {
  for (const char* name : {"merged", "merged.csv", "/nowhere/merged.jsonl"}) {
    EXPECT_FALSE(create_merged_file(name, ParquetRows::Objects)) << name;
  }
}

}  // namespace
}  // namespace het::archive
