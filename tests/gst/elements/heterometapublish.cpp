/// heterometaconvert and heterometapublish in pipelines.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/gst/pipeline_run.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

using nlohmann::json;

const std::string kSource =
    "videotestsrc num-buffers=5 ! video/x-raw,width=64,height=48,framerate=25/1 ! ";

TEST(HeteroMetaPublish, OneArray) {
  const ScratchFolder folder;
  for (int round = 0; round < 2; ++round) {  // the second run replaces the first one's file
    PipelineRun run(kSource +
                    "heterometaconvert add-empty-results=true source=here tags=\"{\\\"n\\\":1}\" ! "
                    "heterometapublish method=file file-format=json file-path=" +
                    folder.file("out.json") + " ! fakesink");
    EXPECT_EQ(run.play().problem(), "");
    const json messages = json::parse(read_text(folder.file("out.json")));
    ASSERT_EQ(messages.size(), 5u);
    EXPECT_EQ(messages[3]["timestamp"], 120'000'000);
    EXPECT_EQ(messages[3]["source"], "here");
    EXPECT_EQ(messages[3]["tags"]["n"], 1);
    EXPECT_EQ(messages[3]["resolution"]["width"], 64);
    EXPECT_FALSE(messages[3].contains("objects"));
  }
}

TEST(HeteroMetaPublish, OneLineEach) {
  const ScratchFolder folder;
  PipelineRun run(kSource +
                  "heterometaconvert add-empty-results=true ! heterometapublish "
                  "file-format=json-lines file-path=" +
                  folder.file("out.jsonl") + " ! fakesink");
  EXPECT_EQ(run.play().problem(), "");
  std::istringstream lines(read_text(folder.file("out.jsonl")));
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    EXPECT_TRUE(json::accept(line)) << line;
    ++count;
  }
  EXPECT_EQ(count, 5);
}

TEST(HeteroMetaPublish, FramesWithoutObjectsGiveNoMessage) {
  const ScratchFolder folder;
  PipelineRun run(kSource + "heterometaconvert ! heterometapublish file-path=" +
                  folder.file("out.json") + " ! fakesink");
  EXPECT_EQ(run.play().problem(), "");
  EXPECT_EQ(json::parse(read_text(folder.file("out.json"))), json::array());
}

TEST(HeteroMetaPublish, StandardOutput) {
  for (const char* where : {"method=stdout", "file-path=stdout", ""}) {
    testing::internal::CaptureStdout();
    PipelineRun run(kSource + "heterometaconvert add-empty-results=true ! heterometapublish " +
                    where + " ! fakesink");
    const std::string problem = run.play().problem();
    const std::string text = testing::internal::GetCapturedStdout();
    EXPECT_EQ(problem, "");
    EXPECT_EQ(json::parse(text).size(), 5u) << text;
  }
}

TEST(HeteroMetaPublish, AFifoIsFed) {
  const ScratchFolder folder;
  const std::string path = folder.file("fifo");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::string text;
  std::thread reader([&] { text = read_text(path); });
  PipelineRun run(kSource +
                  "heterometaconvert add-empty-results=true ! heterometapublish "
                  "file-format=json-lines file-path=" +
                  path + " ! fakesink");
  EXPECT_EQ(run.play().problem(), "");
  reader.join();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
}

TEST(HeteroMetaPublish, AFifoWhoseReaderLeavesIsOneError) {
  // SIGPIPE as applications have it, which would end the process.
  ASSERT_NE(signal(SIGPIPE, SIG_DFL), SIG_ERR);
  const ScratchFolder folder;
  const std::string path = folder.file("fifo");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread reader([&] {
    std::ifstream fifo(path);
    char first = 0;
    fifo.get(first);
  });
  PipelineRun run(
      "videotestsrc is-live=true num-buffers=200 ! video/x-raw,width=64,height=48,framerate=100/1 "
      "! heterometaconvert add-empty-results=true ! heterometapublish name=publish "
      "file-format=json-lines file-path=" +
      path + " ! fakesink");
  const Outcome outcome = run.play(20);
  reader.join();
  EXPECT_FALSE(outcome.eos);
  ASSERT_EQ(outcome.errors_of("publish").size(), 1u);
  EXPECT_NE(outcome.errors_of("publish")[0].text.find("Broken pipe"), std::string::npos)
      << outcome.errors_of("publish")[0].text;
}

TEST(HeteroMetaPublish, AFullDiskIsOneError) {
  PipelineRun run(kSource +
                  "heterometaconvert add-empty-results=true ! heterometapublish "
                  "name=publish file-path=/dev/full ! fakesink");
  const Outcome outcome = run.play();
  EXPECT_FALSE(outcome.eos);
  ASSERT_EQ(outcome.errors_of("publish").size(), 1u);
  EXPECT_NE(outcome.errors_of("publish")[0].text.find("/dev/full"), std::string::npos);
}

TEST(HeteroMetaPublish, AnUnreachableBrokerIsOneError) {
  PipelineRun run(kSource +
                  "heterometaconvert add-empty-results=true ! heterometapublish name=publish "
                  "method=mqtt topic=frames address=127.0.0.1:1 ! fakesink");
  const Outcome outcome = run.play();
  EXPECT_FALSE(outcome.eos);
  ASSERT_EQ(outcome.errors_of("publish").size(), 1u);
  // A build without libmosquitto names the option instead.
  const std::string text = outcome.errors_of("publish")[0].text;
  EXPECT_TRUE(text.find("127.0.0.1:1") != std::string::npos ||
              text.find("-Dmqtt=enabled") != std::string::npos)
      << text;
}

TEST(HeteroMetaConvert, ASharedFrameIsNotCopied) {
  PipelineRun run(
      "videotestsrc num-buffers=5 ! video/x-raw,width=64,height=48 ! tee name=t "
      "t. ! queue ! heterometaconvert add-empty-results=true ! fakesink name=with "
      "t. ! queue ! fakesink name=without");
  std::vector<GstMemory*> with;
  std::vector<GstMemory*> without;
  // Kept, so that no address is used twice.
  std::vector<GstBuffer*> kept;
  run.on_buffer("with", [&](GstBuffer* b) { with.push_back(gst_buffer_peek_memory(b, 0)); });
  run.on_buffer("without", [&](GstBuffer* b) {
    without.push_back(gst_buffer_peek_memory(b, 0));
    kept.push_back(gst_buffer_ref(b));
  });
  EXPECT_EQ(run.play().problem(), "");
  EXPECT_EQ(with, without);
  for (GstBuffer* buffer : kept) gst_buffer_unref(buffer);
}

}  // namespace
}  // namespace het::gst_test
