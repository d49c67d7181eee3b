#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "serving/archive/records/archive_plan.h"
#include "serving/archive/records/sha256.h"
#include "serving/archive/records/shard_failures.h"
#include "serving/archive/records/shard_key.h"
#include "serving/archive/records/shard_note.h"
#include "serving/archive/scan/scan_record.h"
#include "serving/archive/worker/shard_messages.h"

namespace het::archive {
namespace {

using testing::HasSubstr;

/// Two videos, the second in two ranges.
ArchivePlan small_plan() {
  ArchivePlan plan;
  plan.pipeline = {"filesrc", "location={video}", "!", "x", "source={name}", "o={output}"};
  plan.version = "1.2.3";
  plan.shard_s = 10;
  plan.videos = {{"a.mp4", "file:///v/a.mp4", "/v/a.mp4", "sha256:aa", 7, 3, 120, {}, {0}},
                 {"b.mp4", "file:///v/b.mp4", "/v/b.mp4", "sha256:bb", 8, 5, 200, "odd", {1, 2}}};
  plan.shards = {{"a0", 0, 0, {}, 0, 3}, {"b0", 1, 0, 80, 0, 2}, {"b1", 1, 80, {}, 40, 3}};
  return plan;
}

std::string key_of(ArchivePlan plan, size_t shard, const std::string& version = "1") {
  auto keys = ShardKeys::create(plan.pipeline, version);
  for (size_t i = 0; i < plan.videos.size(); ++i) keys->fill(plan, i);
  return plan.shards[shard].key;
}

class ArchiveRecords : public testing::Test {
 protected:
  ArchiveRecords() { EXPECT_TRUE(folder_.create().ok()); }
  ~ArchiveRecords() override { std::filesystem::remove_all(folder_.path()); }

  ArchiveFolder folder_{testing::TempDir() + "/archive records"};
};

TEST_F(ArchiveRecords, APlanIsReadAsItWasWritten) {
  ASSERT_TRUE(write_plan(folder_, small_plan()).ok());
  const auto read = read_plan(folder_);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, small_plan());
}

TEST_F(ArchiveRecords, AWrongPlanIsRefused) {
  EXPECT_THAT(read_plan(folder_).error().message(), HasSubstr("hetero archive plan"));
  ArchivePlan plan = small_plan();
  plan.shards[1].video = 0;
  EXPECT_FALSE(ArchivePlan::parse(plan.to_json(), "it"));
  plan = small_plan();
  plan.shards[1].key = "../b";
  EXPECT_FALSE(ArchivePlan::parse(plan.to_json(), "it")) << "a key becomes the name of a file";
  EXPECT_FALSE(ArchivePlan::parse("{", "it"));
  const std::string text = small_plan().to_json();
  EXPECT_FALSE(ArchivePlan::parse(text.substr(0, text.size() / 2), "it"));
}

TEST_F(ArchiveRecords, ANoteCountsWithItsOutputOnly) {
  ShardNote note;
  note.key = "a0";
  note.frames = 3;
  note.first_ns = 5;
  note.bytes = 4;
  note.host = "node";
  ASSERT_TRUE(write_note(folder_, note).ok());
  EXPECT_EQ(**read_note(folder_, "a0"), note);
  EXPECT_FALSE(done_note(folder_, "a0")) << "the output is not there";
  std::ofstream(folder_.output("a0")) << "{}";
  EXPECT_FALSE(done_note(folder_, "a0")) << "the output is cut off";
  std::ofstream(folder_.output("a0")) << "{ }\n";
  EXPECT_EQ(done_note(folder_, "a0"), note);
  EXPECT_FALSE(done_note(folder_, "b0"));
}

TEST_F(ArchiveRecords, GivenUpAfterSoManyTries) {
  EXPECT_TRUE(read_failures(folder_, "a0")->tries.empty());
  EXPECT_FALSE(add_failure(folder_, "a0", FailureKind::Error, "broken", 2)->given_up);
  EXPECT_TRUE(add_failure(folder_, "a0", FailureKind::Crash, "signal 11", 2)->given_up);
  const auto failures = read_failures(folder_, "a0");
  ASSERT_EQ(failures->tries.size(), 2U);
  EXPECT_EQ(failures->tries[1].kind, FailureKind::Crash);
  EXPECT_EQ(failures->tries[1].error, "signal 11");
  EXPECT_TRUE(remove_failures(folder_, "a0").ok());
  EXPECT_TRUE(read_failures(folder_, "a0")->tries.empty());
}

TEST_F(ArchiveRecords, AScanIsReadAsItWasWritten) {
  ScanRecord record;
  record.uri = "file:///v/a.mp4";
  record.stamp = FileStamp{1, 2, 3};
  record.scan.content = "sha256:aa";
  record.scan.timestamps = {1, 2, 3};
  record.scan.key_frames = {1};
  record.scan.error = "odd";
  ASSERT_TRUE(write_scan(folder_, record).ok());
  EXPECT_EQ(read_scan(folder_, record.uri), record);
  EXPECT_FALSE(read_scan(folder_, "file:///v/b.mp4"));
}

TEST(ArchiveKeys, ChangeWithWhatAnOutputDependsOn) {
  const ArchivePlan plan = small_plan();
  EXPECT_EQ(key_of(plan, 1), key_of(plan, 1));
  EXPECT_NE(key_of(plan, 1), key_of(plan, 2));
  EXPECT_NE(key_of(plan, 1), key_of(plan, 1, "2"));
  ArchivePlan changed = plan;
  changed.videos[1].content = "sha256:cc";
  EXPECT_NE(key_of(plan, 1), key_of(changed, 1));
  EXPECT_EQ(key_of(plan, 0), key_of(changed, 0));
  changed = plan;
  changed.shards[2].from_ns = 0;
  EXPECT_NE(key_of(plan, 2), key_of(changed, 2));
  EXPECT_EQ(key_of(plan, 1), key_of(changed, 1));
  changed = plan;
  changed.videos[1].name = "c.mp4";
  EXPECT_NE(key_of(plan, 1), key_of(changed, 1)) << "the pipeline writes {name}";
  changed = plan;
  changed.videos[1].path = "/w/b.mp4";
  changed.videos[1].uri = "file:///w/b.mp4";
  EXPECT_EQ(key_of(plan, 1), key_of(changed, 1)) << "where it is read from changes nothing";
}

TEST(ArchiveKeys, TheSameVideoTwiceHasTwo) {
  ArchivePlan plan = small_plan();
  plan.pipeline = {"filesrc", "location={video}", "!", "o={output}"};
  plan.videos[1] = plan.videos[0];
  plan.videos[1].shards = {1};
  plan.shards = {{"", 0, 0, {}, 0, 3}, {"", 1, 0, {}, 0, 3}};
  EXPECT_NE(key_of(plan, 0), key_of(plan, 1));
}

TEST(ArchiveDigests, OfTimes) {
  EXPECT_EQ(timestamps_digest({20, 3}, 1), sha256_of("3\n20\nnone\n"));
  EXPECT_EQ(sha256_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(ShardMessages, AreReadAsTheyWereWritten) {
  EXPECT_EQ(*parse_order(order_line("a0")), "a0");
  EXPECT_FALSE(parse_order("{\"shard\": 3}"));
  EXPECT_FALSE(parse_order("a0"));
  WorkerAnswer failed;
  failed.kind = WorkerAnswer::Kind::Failed;
  failed.key = "a0";
  failed.error = "no \"way\"\n";
  failed.failure = FailureKind::Stall;
  failed.given_up = true;
  const auto read = WorkerAnswer::parse(failed.to_line());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->error, failed.error);
  EXPECT_EQ(read->failure, FailureKind::Stall);
  EXPECT_TRUE(read->given_up);
  WorkerAnswer done;
  done.kind = WorkerAnswer::Kind::Done;
  done.key = "b0";
  done.frames = 12;
  EXPECT_EQ(WorkerAnswer::parse(done.to_line())->frames, 12U);
  EXPECT_FALSE(WorkerAnswer::parse("{}"));
}

}  // namespace
}  // namespace het::archive
