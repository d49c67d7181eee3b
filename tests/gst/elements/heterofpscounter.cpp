#include <gst/video/video.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <latch>
#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/gst/pipeline_run.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

TEST(HeteroFpsCounter, PrintsWhilePlayingAndAtTheEnd) {
  testing::internal::CaptureStdout();
  PipelineRun run(
      "videotestsrc is-live=true num-buffers=70 ! "
      "video/x-raw,width=32,height=32,framerate=50/1 ! heterofpscounter name=fps ! "
      "fakesink sync=true");
  const std::string problem = run.play().problem();
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(problem, "");
  const std::string figures =
      "total=(4[89]|5[0-2])\\.[0-9]{2} fps, number-streams=1, per-stream=[0-9.]+ fps\n";
  EXPECT_TRUE(std::regex_search(text, std::regex("FpsCounter\\(last 1\\.0[0-9]sec\\): " + figures)))
      << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("FpsCounter\\(overall [0-9.]+sec\\): total=")))
      << text;
}

TEST(HeteroFpsCounter, TwoStreamsAreOneLine) {
  testing::internal::CaptureStdout();
  PipelineRun run(
      "videotestsrc num-buffers=500 ! video/x-raw,width=32,height=32 ! "
      "heterofpscounter ! fakesink "
      "videotestsrc num-buffers=500 ! video/x-raw,width=32,height=32 ! "
      "heterofpscounter ! fakesink");
  const std::string problem = run.play().problem();
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(problem, "");
  EXPECT_NE(text.find("number-streams=2"), std::string::npos) << text;
  EXPECT_EQ(text.find("overall"), text.rfind("overall")) << text;
}

/// What a run prints; `visit` sees the counter at each frame that comes out of it.
std::string printed(const std::string& properties,
                    const std::function<void(GstElement*)>& visit = nullptr) {
  testing::internal::CaptureStdout();
  std::string problem;
  {
    PipelineRun run(
        "videotestsrc num-buffers=6 ! video/x-raw,width=32,height=32,framerate=25/1 ! "
        "identity name=stamp ! heterofpscounter name=fps " +
        properties + " ! fakesink name=end");
    // Taken ten seconds ago.
    run.on_buffer("stamp", [](GstBuffer* buffer) {
      GDateTime* now = g_date_time_new_now_utc();
      GDateTime* taken = g_date_time_add_seconds(now, -10.0);
      GDateTime* jam =
          g_date_time_new_utc(g_date_time_get_year(taken), g_date_time_get_month(taken),
                              g_date_time_get_day_of_month(taken), 0, 0, 0.0);
      gst_buffer_add_video_time_code_meta_full(buffer, 25, 1, jam, GST_VIDEO_TIME_CODE_FLAGS_NONE,
                                               static_cast<guint>(g_date_time_get_hour(taken)),
                                               static_cast<guint>(g_date_time_get_minute(taken)),
                                               static_cast<guint>(g_date_time_get_second(taken)), 0,
                                               0);
      g_date_time_unref(jam);
      g_date_time_unref(taken);
      g_date_time_unref(now);
      g_usleep(20000);
    });
    run.on_buffer("end", [&](GstBuffer*) {
      if (visit) visit(run.element("fps"));
    });
    problem = run.play().problem();
  }
  EXPECT_EQ(problem, "");
  return testing::internal::GetCapturedStdout();
}

TEST(HeteroFpsCounter, FramesBeforeTheStartingFrameDoNotCount) {
  EXPECT_NE(printed("starting-frame=4").find("overall"), std::string::npos);
  EXPECT_EQ(printed("starting-frame=6").find("overall"), std::string::npos) << "no frame counted";
}

TEST(HeteroFpsCounter, TheAverageCanBeReadWhilePlaying) {
  std::vector<float> averages;
  printed("", [&](GstElement* counter) {
    gfloat average = -1.0f;
    g_object_get(counter, "avg-fps", &average, nullptr);
    averages.push_back(average);
  });
  ASSERT_EQ(averages.size(), 6u);
  EXPECT_EQ(averages[0], 0.0f) << "a rate needs two frames";
  EXPECT_GT(averages[5], 0.0f);
  EXPECT_LE(averages[5], 50.0f) << "20 ms and more lie between two frames";
}

TEST(HeteroFpsCounter, DeviationAndLatencyOnRequest) {
  const std::string plain = printed("");
  EXPECT_EQ(plain.find("std dev"), std::string::npos) << plain;
  EXPECT_EQ(plain.find("latency"), std::string::npos) << plain;
  const std::string deviation = printed("print-std-dev=true");
  EXPECT_TRUE(std::regex_search(deviation, std::regex("\\nstd dev interval: [0-9.]+ms\\n")))
      << deviation;
  const std::string latency = printed("print-latency=true");
  std::smatch match;
  ASSERT_TRUE(std::regex_search(latency, match, std::regex("\\nlatency: ([0-9.]+)ms\\n")))
      << latency;
  EXPECT_GE(std::stod(match[1]), 10000.0);
  EXPECT_LE(std::stod(match[1]), 40000.0);
}

const std::string kFewFrames =
    "videotestsrc num-buffers=40 ! video/x-raw,width=32,height=32,framerate=25/1 ! ";

/// The processes are one here, with a pipeline each: what counts is the FIFO.
TEST(HeteroFpsCounter, AReaderCountsTheFramesOfOthers) {
  const ScratchFolder folder;
  const std::string path = folder.file("fps");
  testing::internal::CaptureStdout();
  std::string writers[2];
  // None ends before the other one has begun: the reader would take it for the last.
  std::latch both(2);
  std::vector<std::thread> threads;
  for (std::string& problem : writers) {
    threads.emplace_back([&] {
      // The reader comes later.
      PipelineRun run(kFewFrames + "heterofpscounter write-pipe=" + path + " ! fakesink name=end");
      bool is_first = true;
      run.on_buffer("end", [&](GstBuffer*) {
        if (std::exchange(is_first, false)) both.arrive_and_wait();
      });
      problem = run.play().problem();
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  PipelineRun reader("heterofpscounter interval=1 read-pipe=" + path + " ! fakesink");
  const Outcome outcome = reader.play(20);
  for (std::thread& thread : threads) thread.join();
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(outcome.problem(), "") << "the last writer ends it";
  EXPECT_EQ(writers[0] + writers[1], "");
  EXPECT_TRUE(std::regex_search(text, std::regex("^FpsCounter\\(overall [0-9.]+sec\\): "
                                                 "total=[0-9.]+ fps, number-streams=2, ")))
      << text;
  EXPECT_EQ(text.find("overall"), text.rfind("overall")) << "writers print nothing: " << text;
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(HeteroFpsCounter, EveryFrameOfAWriterArrivesInGvafpscountersForm) {
  const ScratchFolder folder;
  const std::string path = folder.file("fps");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::string text;
  std::thread reader([&] { text = read_text(path); });
  PipelineRun run(kFewFrames + "heterofpscounter name=" + std::string(80, 'n') +
                  " write-pipe=" + path + " ! fakesink");
  EXPECT_EQ(run.play().problem(), "");
  reader.join();
  ASSERT_EQ(text.size(), 40u * 64u);
  const std::string end = "n_" + std::to_string(getpid());
  for (size_t begin = 0; begin < text.size(); begin += 64) {
    const std::string name = text.substr(begin, 64).c_str();
    EXPECT_EQ(name.size(), 63u);
    EXPECT_TRUE(name.ends_with(end)) << name;
  }
}

TEST(HeteroFpsCounter, AStopEndsTheWaitForAReader) {
  const ScratchFolder folder;
  PipelineRun run(kFewFrames + "heterofpscounter write-pipe=" + folder.file("fps") + " ! fakesink");
  gst_element_set_state(run.pipeline(), GST_STATE_PLAYING);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto begin = std::chrono::steady_clock::now();
  gst_element_set_state(run.pipeline(), GST_STATE_NULL);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  // Nobody has ever written, and the reader can be stopped, too.
  PipelineRun reader("heterofpscounter read-pipe=" + folder.file("fps") + " ! fakesink");
  gst_element_set_state(reader.pipeline(), GST_STATE_PLAYING);
  gst_element_set_state(reader.pipeline(), GST_STATE_NULL);
}

TEST(HeteroFpsCounter, AReaderThatLeavesIsOneWarning) {
  ASSERT_NE(signal(SIGPIPE, SIG_DFL), SIG_ERR);
  const ScratchFolder folder;
  const std::string path = folder.file("fps");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread reader([&] {
    std::ifstream fifo(path);
    char first = 0;
    fifo.get(first);
  });
  PipelineRun run(
      "videotestsrc is-live=true num-buffers=50 ! video/x-raw,width=32,height=32,framerate=100/1 ! "
      "heterofpscounter name=fps write-pipe=" +
      path + " ! fakesink");
  const Outcome outcome = run.play(20);
  reader.join();
  EXPECT_EQ(outcome.problem(), "") << "frames go on";
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_NE(outcome.warnings[0].text.find("nobody reads the FIFO '" + path + "' any more"),
            std::string::npos)
      << outcome.warnings[0].text;
}

TEST(HeteroFpsCounter, WhatAForeignWriterSendsDoesNotBreakTheReader) {
  const ScratchFolder folder;
  const std::string path = folder.file("fps");
  testing::internal::CaptureStdout();
  std::thread writer([&] {
    while (!std::filesystem::exists(path)) std::this_thread::yield();
    std::ofstream fifo(path, std::ios::binary);
    for (int stream = 0; stream < 1100; ++stream) {
      std::string message = "x\x1b[2J" + std::to_string(stream);
      message.resize(64, '\0');
      fifo.write(message.data(), 64);
    }
    fifo.write("half", 4);
  });
  PipelineRun reader("heterofpscounter name=fps read-pipe=" + path + " ! fakesink");
  const Outcome outcome = reader.play(20);
  writer.join();
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(outcome.problem(), "");
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_NE(outcome.warnings[0].text.find("more than 1024 streams"), std::string::npos);
  EXPECT_NE(text.find("number-streams=1024"), std::string::npos) << text;
}

TEST(HeteroFpsCounter, WrongPipesAreOneError) {
  const ScratchFolder folder;
  write_text(folder.file("file"), "");
  const std::pair<std::string, std::string> wrong[] = {
      {"read-pipe=" + folder.file("file"), "is no FIFO"},
      {"write-pipe=" + folder.file("file"), "is no FIFO"},
      {"write-pipe=/absent/folder/fps", "cannot make the FIFO '/absent/folder/fps'"},
      {"write-pipe=" + folder.file("a") + " read-pipe=" + folder.file("b"), "are both given"}};
  for (const auto& [properties, words] : wrong) {
    PipelineRun run(kFewFrames + "heterofpscounter name=fps " + properties + " ! fakesink");
    const std::vector<PostedError> errors = run.play().errors_of("fps");
    ASSERT_EQ(errors.size(), 1u) << properties;
    EXPECT_NE(errors[0].text.find(words), std::string::npos) << errors[0].text;
  }
}

}  // namespace
}  // namespace het::gst_test
