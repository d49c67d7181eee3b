#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/gst/pipeline_run.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

using nlohmann::json;

/// Plays frames through branches that meet in "a"; the messages, one a frame.
json run_branches(const ScratchFolder& folder, const std::string& branches, int frames = 6,
                  const std::string& source = "videotestsrc") {
  PipelineRun run(source + " num-buffers=" + std::to_string(frames) +
                  " ! video/x-raw,width=200,height=100,framerate=25/1 ! tee name=t "
                  "heterometaaggregate name=a ! heterometaconvert add-empty-results=true ! "
                  "heterometapublish file-path=" +
                  folder.file("out.json") + " ! fakesink " + branches);
  EXPECT_EQ(run.play(60).problem(), "");
  return json::parse(read_text(folder.file("out.json")));
}

TEST(HeteroMetaAggregate, RegionsOfAllBranchesMeetOnTheFirstPadsFrames) {
  const ScratchFolder folder;
  const json messages =
      run_branches(folder,
                   "t. ! queue ! heteroattachroi roi=0,0,20,20 ! a.sink_0 "
                   "t. ! queue ! heteroattachroi roi=50,10,90,30 ! a.sink_1 "
                   "t. ! queue ! videoscale ! video/x-raw,width=100,height=50 ! heteroattachroi "
                   "roi=10,10,60,40 ! a.sink_2");
  ASSERT_EQ(messages.size(), 6u);
  for (const json& message : messages) {
    EXPECT_EQ(message["resolution"]["width"], 200);
    ASSERT_EQ(message["objects"].size(), 3u) << message;
    EXPECT_EQ(message["objects"][1]["x"], 50);
    EXPECT_EQ(message["objects"][2]["x"], 20) << "fitted to the size of the frame";
    EXPECT_EQ(message["objects"][2]["w"], 100);
    EXPECT_EQ(message["objects"][2]["h"], 60);
  }
}

TEST(HeteroMetaAggregate, TimestampsDecideWhichFramesMeet) {
  // The other branch has every second frame only, each with its own place.
  const ScratchFolder folder;
  json places = json::array();
  for (int i = 0; i < 6; ++i)
    places.push_back({{"objects", {{{"x", 10 * i}, {"y", 0}, {"w", 10}, {"h", 10}}}}});
  write_text(folder.file("places.json"), places.dump());
  const json messages = run_branches(
      folder,
      "t. ! queue ! a.sink_0 t. ! queue ! heteroattachroi file-path=" + folder.file("places.json") +
          " ! videorate drop-only=true ! video/x-raw,framerate=25/2 ! a.sink_1");
  ASSERT_EQ(messages.size(), 6u);
  int joined = 0;
  for (size_t i = 0; i < messages.size(); ++i) {
    if (!messages[i].contains("objects")) continue;
    ++joined;
    ASSERT_EQ(messages[i]["objects"].size(), 1u);
    EXPECT_EQ(messages[i]["objects"][0]["x"], 10 * i) << "frame " << i;
  }
  EXPECT_GE(joined, 2);
  EXPECT_LE(joined, 4);
}

TEST(HeteroMetaAggregate, ABranchThatEndsEarlyDoesNotHoldUp) {
  const ScratchFolder folder;
  const json messages = run_branches(
      folder,
      "t. ! queue ! a.sink_0 videotestsrc num-buffers=2 ! "
      "video/x-raw,width=200,height=100,framerate=25/1 ! heteroattachroi roi=1,1,9,9 ! a.sink_1");
  ASSERT_EQ(messages.size(), 6u);
  EXPECT_TRUE(messages[1].contains("objects"));
  EXPECT_FALSE(messages[2].contains("objects"));
}

TEST(HeteroMetaAggregate, FramesWithoutTimestampsLeaveWithOneWarning) {
  PipelineRun run(
      "videotestsrc num-buffers=12 ! video/x-raw,width=64,height=48,framerate=25/1 ! identity "
      "name=before ! tee name=t heterometaaggregate name=a ! identity name=after ! fakesink "
      "t. ! queue ! a.sink_0 t. ! queue ! a.sink_1");
  int number = 0;
  run.on_buffer("before", [&](GstBuffer* frame) {
    if (++number == 4 || number == 7) GST_BUFFER_PTS(frame) = GST_CLOCK_TIME_NONE;
  });
  int left = 0;
  run.on_buffer("after", [&](GstBuffer*) { ++left; });
  const Outcome outcome = run.play(20);
  EXPECT_EQ(outcome.problem(), "");
  EXPECT_EQ(left, 12);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_NE(outcome.warnings[0].text.find("without timestamps"), std::string::npos)
      << outcome.warnings[0].text;
}

TEST(HeteroMetaAggregate, GapsOfTheFirstPadAreNoFrames) {
  PipelineRun run(
      "videotestsrc num-buffers=40 ! video/x-raw,width=64,height=48,framerate=25/1 ! tee name=t "
      "heterometaaggregate name=a ! identity name=after ! fakesink "
      "t. ! queue ! identity name=some drop-probability=0.5 ! a.sink_0 t. ! queue ! a.sink_1");
  int left = 0;
  run.on_buffer("after", [&](GstBuffer* frame) {
    ++left;
    EXPECT_GT(gst_buffer_get_size(frame), 0u);
  });
  EXPECT_EQ(run.play(20).problem(), "");
  EXPECT_GT(left, 0);
  EXPECT_LT(left, 40);
}

constexpr auto kLive = "videotestsrc is-live=true";

int with_objects(const json& messages) {
  int found = 0;
  for (const json& message : messages) found += message.contains("objects");
  return found;
}

/// What a busy machine delays is late for good, so the best of three runs counts.
TEST(HeteroMetaAggregate, ALiveFrameWaitsForASlowerBranchWithinTheLatency) {
  int most = 0;
  for (int run = 0; run < 3 && most < 15; ++run) {
    const ScratchFolder folder;
    const json messages =
        run_branches(folder,
                     "t. ! queue ! a.sink_0 t. ! queue ! identity sleep-time=15000 "
                     "! heteroattachroi roi=1,1,9,9 ! a.sink_1",
                     20, kLive);
    ASSERT_EQ(messages.size(), 20u);
    most = std::max(most, with_objects(messages));
  }
  EXPECT_GE(most, 15);
}

TEST(HeteroMetaAggregate, ALiveBranchThatStallsDoesNotHoldUp) {
  const ScratchFolder folder;
  const auto start = std::chrono::steady_clock::now();
  const json messages = run_branches(
      folder,
      "t. ! queue ! a.sink_0 t. ! queue ! identity sleep-time=500000 ! heteroattachroi "
      "roi=1,1,9,9 ! a.sink_1",
      20, kLive);
  EXPECT_EQ(messages.size(), 20u);
  EXPECT_LE(with_objects(messages), 2);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5))
      << "the branch takes ten seconds";
}

}  // namespace
}  // namespace het::gst_test
