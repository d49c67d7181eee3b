#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serving/archive/records/shard_failures.h"
#include "serving/archive/records/shard_note.h"
#include "serving/archive/scan/scan_record.h"
#include "serving/archive/verify/verify.h"
#include "tests/serving/archive/written_archive.h"

namespace het::archive {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class VerifyArchive : public testing::Test {
 protected:
  VerifyArchive() {
    archive_.add_video("a", 1, {0});
    archive_.add_video("v", 4, {0, 20}, 10);
    archive_.plan.pipeline.push_back("add-empty-results=true");
    archive_.finish(0, {frame_line(0)});
    archive_.finish(1, {frame_line(0), frame_line(10)});
    archive_.finish(2, {frame_line(20), frame_line(30)}, {frame_line(10)});
    for (const PlannedVideo& video : archive_.plan.videos) {
      ScanRecord record;
      record.uri = video.uri;
      record.scan.frames = video.frames;
      for (uint64_t i = 0; i < video.frames; ++i) record.scan.timestamps.push_back(10 * i);
      EXPECT_TRUE(write_scan(archive_.folder, record).ok());
    }
  }

  VerifyReport verify(bool any_frames = false) {
    const auto states = shard_states(archive_.folder, archive_.plan);
    EXPECT_TRUE(states) << states.error().message();
    VerifySettings settings;
    settings.any_frames = any_frames;
    auto report = verify_archive(archive_.folder, archive_.plan, *states, settings);
    EXPECT_TRUE(report) << report.error().message();
    return std::move(*report);
  }
  /// The only fault, which is shard 2's.
  std::string fault(bool is_redone = true) {
    const VerifyReport report = verify();
    EXPECT_EQ(report.faults.size(), 1u);
    if (report.faults.empty()) return "";
    EXPECT_EQ(report.faults[0].redo.has_value(), is_redone);
    EXPECT_EQ(report.faults[0].redo.value_or(2), 2u);
    EXPECT_THAT(report.faults[0].what, HasSubstr("video 'v'"));
    return report.faults[0].what;
  }
  const std::string& key(size_t shard) const { return archive_.plan.shards[shard].key; }
  ShardNote note(size_t shard) { return read_note(archive_.folder, key(shard))->value(); }

  WrittenArchive archive_;
};

TEST_F(VerifyArchive, AllIsRight) {
  const VerifyReport report = verify();
  EXPECT_THAT(report.faults, IsEmpty());
  EXPECT_THAT(report.remarks, IsEmpty());
  EXPECT_EQ(report.videos, 2u);
  EXPECT_EQ(report.shards, 3u);
  EXPECT_EQ(report.frames, 5u);
}

TEST_F(VerifyArchive, AMissingShard) {
  std::filesystem::remove(archive_.folder.note(key(2)));
  EXPECT_THAT(fault(false), HasSubstr("it is missing"));
}

TEST_F(VerifyArchive, AGivenUpShardIsNoFault) {
  std::filesystem::remove(archive_.folder.note(key(2)));
  ASSERT_TRUE(add_failure(archive_.folder, key(2), FailureKind::Crash, "killed by a signal", 1));
  const VerifyReport report = verify();
  EXPECT_THAT(report.faults, IsEmpty());
  EXPECT_THAT(report.given_up, ElementsAre(HasSubstr("killed by a signal")));
  EXPECT_EQ(report.videos, 1u);
}

TEST_F(VerifyArchive, ANoteThatIsNone) {
  archive_.write(archive_.folder.note(key(2)), "{");
  EXPECT_THAT(fault(false), HasSubstr("its note cannot be read"));
}

TEST_F(VerifyArchive, AChangedOutput) {
  archive_.write(archive_.folder.output(key(2)), frame_line(20) + "\n" + frame_line(30) + " \n");
  EXPECT_THAT(fault(), HasSubstr("are not the"));
}

TEST_F(VerifyArchive, ALostOutput) {
  std::filesystem::remove(archive_.folder.output(key(2)));
  EXPECT_THAT(fault(), HasSubstr("cannot read"));
}

TEST_F(VerifyArchive, ALostOverlap) {
  std::filesystem::remove(archive_.folder.overlap_output(key(2)));
  EXPECT_THAT(fault(), HasSubstr("overlap"));
}

TEST_F(VerifyArchive, ALineOfAnotherShard) {
  archive_.finish(2, {frame_line(10), frame_line(20), frame_line(30)}, {});
  EXPECT_THAT(fault(), HasSubstr("line 1 is of 10 ns, which belongs to another shard"));
}

TEST_F(VerifyArchive, AFrameTwice) {
  archive_.finish(2, {frame_line(20), frame_line(20)}, {});
  EXPECT_THAT(fault(), HasSubstr("not one for each of the 2 frames"));
}

TEST_F(VerifyArchive, ALineThatIsNone) {
  archive_.finish(2, {frame_line(20), "{\"timestamp\":"}, {});
  EXPECT_THAT(fault(), HasSubstr("line 2"));
}

TEST_F(VerifyArchive, AFrameThatDidNotCome) {
  // The video is not there to be decoded either, which is told, too.
  ShardNote changed = note(2);
  changed.frames = 1;
  changed.timestamps = timestamps_digest({20});
  const std::string line = frame_line(20) + "\n";
  archive_.finish(2, {frame_line(20)}, {});
  changed.bytes = note(2).bytes;
  changed.sha256 = note(2).sha256;
  changed.lines = 1;
  ASSERT_TRUE(write_note(archive_.folder, changed).ok());
  EXPECT_THAT(fault(), HasSubstr("1 frames came to its sink, 2 were parsed"));
  EXPECT_THAT(verify(true).faults, IsEmpty());
}

TEST_F(VerifyArchive, RangesWithAHole) {
  archive_.plan.shards[2].start_ns = 30;
  const VerifyReport report = verify();
  ASSERT_FALSE(report.faults.empty());
  EXPECT_THAT(report.faults[0].what, HasSubstr("does not begin where the one before it ends"));
}

TEST_F(VerifyArchive, FilesOfOthers) {
  archive_.write(archive_.folder.outputs() / "notes.txt", "");
  archive_.write(archive_.folder.outputs() / "abc.jsonl", "");
  archive_.write(archive_.folder.outputs() / ".00000001.jsonl.host.1.part", "");
  archive_.write(archive_.folder.outputs() / "def0.jsonl", "");
  ShardNote other;
  other.key = "def0";
  ASSERT_TRUE(write_note(archive_.folder, other).ok());
  const VerifyReport report = verify();
  ASSERT_EQ(report.faults.size(), 2u);
  EXPECT_THAT(report.faults[0].what, HasSubstr("'abc.jsonl' in outputs/ belongs to no shard"));
  EXPECT_THAT(report.faults[1].what, HasSubstr("'notes.txt'"));
  EXPECT_THAT(report.remarks, ElementsAre(HasSubstr("1 outputs of other plans")));
}

TEST_F(VerifyArchive, RedoRemovesTheNotes) {
  std::filesystem::remove(archive_.folder.output(key(2)));
  ASSERT_TRUE(redo_shards(archive_.folder, archive_.plan, verify().redo()).ok());
  EXPECT_FALSE(std::filesystem::exists(archive_.folder.note(key(2))));
  EXPECT_TRUE(std::filesystem::exists(archive_.folder.note(key(1))));
}

}  // namespace
}  // namespace het::archive
